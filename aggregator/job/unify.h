// Job-wide templates: the templates of all nodes of a job, unified.
//
// Flow: aggregator/receive feeds every TemplateDefinition it applies; the job state asks resolve()
// for every count. Templates that share a skeleton, that the miner's own rules put into one group
// (common/drain/grouping.h, over their texts), or that are aliases of each other are one class; its
// id is its smallest skeleton. Union-find over rules that only ever add: the result depends on the
// set of definitions and not on their order, and former ids stay valid through canonical().
// Definitions are merged only when a result is needed; until then each distinct definition is kept
// once. A definition that its agent forgets before that leaves no trace, so memory follows the
// templates that the agents remember. Classes that no agent remembers are swept when there are
// enough of them. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/flat_table.h"
#include "common/base/ids.h"
#include "common/base/vocabulary.h"
#include "common/drain/grouping.h"
#include "common/wire/batch.h"

namespace l4::job {

class TemplateTable {
 public:
  TemplateTable();

  /// A node's definition of one of its templates. It may be repeated with a higher generation or as
  /// an alias, in any order: the highest generation holds. A definition without skeleton and alias
  /// is ignored.
  void define(std::uint32_t node, const wire::TemplateDefinition& definition);
  /// The node dropped these templates. Ids of existing classes do not change.
  void forget(std::uint32_t node, const std::vector<LocalTemplateId>& ids);

  // The functions below first merge the definitions that wait.

  /// Job-wide template of a local one; TemplateId(0) as long as it is not defined.
  TemplateId resolve(std::uint32_t node, LocalTemplateId id);
  /// The present id of a present or former one; an unknown id is returned as it is.
  TemplateId canonical(TemplateId id);

  /// Most general text of a class; empty if the id is unknown.
  std::string text(TemplateId id);
  /// Most severe level that any node gave.
  Level level(TemplateId id);

  /// All classes, ascending by id.
  std::vector<TemplateId> all();
  std::size_t size();

  /// Distinct definitions that nodes hold.
  std::size_t definitions() const { return definitions_.size() - free_.size(); }

  /// Saves everything: a table that loads it behaves as this one would.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  using Element = std::uint32_t;
  using DefinitionId = std::uint32_t;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Class {
    TemplateId id;  // smallest skeleton; 0: none yet
    Level level = Level::unknown;
    std::vector<drain::GroupId> groups;
  };
  /// A definition, shared by all nodes that give it.
  struct Definition {
    std::uint64_t key = 0;
    std::uint32_t users = 0;
    Element element = kNone;  // set when merged; the members below are empty then
    Level level = Level::unknown;
    std::string text;
    std::vector<Skeleton> skeletons;
  };
  struct Local {
    DefinitionId stored = kNone;
    Element element = kNone;  // set when a definition of this template was merged
    std::uint32_t alias_of = kNone;
    std::uint32_t generation : 31 = 0;  // generation of its definition
    bool fresh : 1 = false;
  };

  DefinitionId intern(const wire::TemplateDefinition& definition);
  void release(DefinitionId id);
  void merge_pending();
  void merge_pending(FlatTable<Local>& locals);
  void sweep();
  Element new_element();
  Element root(Element element) const;
  Element unite(Element a, Element b);
  void give_id(Class& known, TemplateId id);
  Element element_of(Local& local);
  Element element_of(Definition& stored);
  Element group_element(const Definition& stored);
  const Class* find(TemplateId id);
  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self);
  template <class Archive, class Self>
  static void persist_classes(Archive& archive, Self& self);
  bool is_whole();

  std::vector<FlatTable<Local>> locals_;  // by node
  std::vector<Definition> definitions_;
  std::vector<DefinitionId> free_;
  FlatTable<DefinitionId> known_;  // by hash of the definition
  bool fresh_ = false;             // some definitions wait
  std::size_t dead_ = 0;           // merged definitions that were dropped since sweep()

  drain::Grouping grouping_;
  std::vector<Element> parents_;
  std::unordered_map<Element, Class> classes_;                  // roots
  std::unordered_map<drain::GroupId, Element> group_elements_;  // standing groups
  FlatTable<Element> skeleton_elements_;
};

}  // namespace l4::job
