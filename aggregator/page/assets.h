// What the page consists of, as it is embedded in the program.
//
// Flow: web/ -> esbuild -> web/embed.cmake, which packs it and writes the table -> page.h.
// Constant data; thread-safe.
#pragma once

#include <span>
#include <string_view>

namespace l4::page {

struct Asset {
  std::string_view name;   ///< HASH.ext, of the content: another content has another name
  std::string_view type;   ///< of its content
  std::string_view plain;  ///< as it is
  std::string_view gzip;   ///< the same, packed
};

/// All that stands under /assets/. The first script is the page's own; the others are loaded later.
std::span<const Asset> assets();

/// The document that names them; `@root@` in it stands for the way up to the page's own root.
std::string_view document();

}  // namespace l4::page
