# Writes MADE/assets.cc: the parts of the page, plain and packed, each named by its content.
# usage: cmake -D SOURCE=web -D MADE=FOLDER -P embed.cmake
# The first script and the style sheet also stand within the elements of a document that is one file (aggregator/handout).
file(READ ${MADE}/app.js script)
file(READ ${MADE}/style.css style)
if(script MATCHES "</[sS][cC][rR][iI][pP][tT]|<!--" OR style MATCHES "</[sS][tT][yY][lL][eE]")
  message(FATAL_ERROR "The page's script or style sheet holds a text that would end its element")
endif()

set(table "")
set(blocks "")
file(READ ${SOURCE}/index.html document)

function(embed file symbol)
  string(APPEND blocks "L4_EMBED(${symbol}, \"${file}\")\n")
  set(blocks "${blocks}" PARENT_SCOPE)
endfunction()

# add(FILE SYMBOL EXTENSION TYPE): FILE becomes /assets/HASH.EXTENSION, and the document names it so.
macro(add file symbol extension type)
  file(SHA256 ${file} hash)
  string(SUBSTRING ${hash} 0 16 hash)
  set(packed ${MADE}/${symbol}.gz)
  execute_process(COMMAND gzip -9nc INPUT_FILE ${file} OUTPUT_FILE ${packed} COMMAND_ERROR_IS_FATAL ANY)
  embed(${file} ${symbol})
  embed(${packed} ${symbol}_gzip)
  string(APPEND table "    Asset{\"${hash}.${extension}\", \"${type}\", L4_VIEW(${symbol}), L4_VIEW(${symbol}_gzip)},\n")
  string(REPLACE "@${symbol}@" "@root@assets/${hash}.${extension}" document "${document}")
endmacro()

add(${MADE}/app.js l4_page_script js "text/javascript; charset=utf-8")
add(${MADE}/more.js l4_page_more js "text/javascript; charset=utf-8")
add(${MADE}/style.css l4_page_style css "text/css; charset=utf-8")
add(${SOURCE}/icon.svg l4_page_icon svg "image/svg+xml")
file(WRITE ${MADE}/index.html "${document}")
file(SHA256 ${MADE}/index.html hash)
embed(${MADE}/index.html l4_page_document)

file(WRITE ${MADE}/assets.cc "// Written by web/embed.cmake; the document is ${hash}.
#include \"aggregator/page/assets.h\"

#include <array>

#define L4_EMBED(name, file)                                                         \\
  asm(\".section .rodata\\n\"                                                          \\
      \".balign 16\\n\"                                                               \\
      #name \"_begin:\\n.incbin \\\"\" file \"\\\"\\n\"                                      \\
      #name \"_end:\\n.byte 0\\n.previous\\n\");                                        \\
  extern \"C\" const char name##_begin[];                                              \\
  extern \"C\" const char name##_end[];
#define L4_VIEW(name) \\
  std::string_view(name##_begin, static_cast<std::size_t>(name##_end - name##_begin))

${blocks}
namespace l4::page {

std::span<const Asset> assets() {
  static const std::array kAssets{
${table}  };
  return kAssets;
}

std::string_view document() {
  return L4_VIEW(l4_page_document);
}

}  // namespace l4::page
")
