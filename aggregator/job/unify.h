// Job-wide templates: the templates of all nodes of a job, unified.
//
// Flow: aggregator/receive feeds every TemplateDefinition it applies; the job state asks resolve()
// for every count. Templates that share a skeleton, that the miner's own rules put into one group
// (common/drain/grouping.h, over their texts), or that are aliases of each other are one class; its
// id is its smallest skeleton. Union-find over rules that only ever add: the result depends on the
// set of definitions and not on their order, and former ids stay valid through canonical().
// Bounded by the agents' own limits on templates and 8 skeletons a template. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/ids.h"
#include "common/base/vocabulary.h"
#include "common/drain/flat_table.h"
#include "common/drain/grouping.h"
#include "common/wire/batch.h"

namespace l4::job {

class TemplateTable {
 public:
  /// A class that changed its id: counts kept under `from` belong to `to`.
  struct Rename {
    TemplateId from;
    TemplateId to;
  };

  TemplateTable();

  /// Adds what a node says of one of its templates; a definition may come again, with a higher
  /// generation or as an alias, and in any order. One without skeleton and alias is ignored.
  void define(std::uint32_t node, const wire::TemplateDefinition& definition);

  /// Job-wide template of a local one; TemplateId(0) as long as it is not defined.
  TemplateId resolve(std::uint32_t node, LocalTemplateId id) const;
  /// The id that stands for a present or former one; an unknown id stands for itself.
  TemplateId canonical(TemplateId id) const;

  /// Most general text of a class; empty if the id is unknown.
  std::string text(TemplateId id) const;
  /// Most severe level that any node gave.
  Level level(TemplateId id) const;

  /// All classes, ascending by id.
  std::vector<TemplateId> all() const;
  std::size_t size() const;

  /// Ids that ceased to stand for themselves since the last call, in order.
  std::vector<Rename> take_renames();

 private:
  using Element = std::uint32_t;
  static constexpr Element kNone = ~Element{0};

  struct Class {
    TemplateId id;  // smallest skeleton; 0: none yet
    Level level = Level::unknown;
    std::vector<drain::GroupId> groups;
  };

  Element new_element();
  Element root(Element element) const;
  Element unite(Element a, Element b);
  void give_id(Class& known, TemplateId id);
  Element element_of_local(std::uint32_t node, LocalTemplateId id);
  Element element_of_text(const wire::TemplateDefinition& definition);
  const Class* find(TemplateId id) const;

  drain::Grouping grouping_;
  std::vector<Element> parents_;
  std::unordered_map<Element, Class> classes_;                  // roots
  std::unordered_map<drain::GroupId, Element> group_elements_;  // standing groups
  drain::FlatTable<Element> skeleton_elements_;
  drain::FlatTable<Element> known_;                // by hash of the definition
  std::vector<drain::FlatTable<Element>> locals_;  // by node
  std::vector<Rename> renames_;
};

}  // namespace l4::job
