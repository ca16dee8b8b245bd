// Job-wide templates: the templates of all nodes of a job, unified.
//
// Flow: aggregator/receive feeds every TemplateDefinition it applies; the job state asks resolve()
// for every count. Templates that share a skeleton, that the miner's own rules put into one group
// (common/drain/grouping.h, over their texts), or that are aliases of each other are one class; its
// id is its smallest skeleton. Union-find over rules that only ever add: the result depends on the
// set of definitions and not on their order, and former ids stay valid through canonical().
// Definitions wait, each distinct one once, until somebody asks: what an agent takes back before
// that leaves no trace, so memory follows the templates that the agents remember, and what came in
// between changes nothing. A class that nobody remembers goes when there are enough of them. One
// thread.
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
  /// A class that changed its id: counts kept under `from` belong to `to`.
  struct Rename {
    TemplateId from;
    TemplateId to;
  };

  TemplateTable();

  /// What a node says of one of its templates; a definition may come again, with a higher
  /// generation or as an alias, and in any order: the highest generation holds. One without
  /// skeleton and alias is ignored.
  void define(std::uint32_t node, const wire::TemplateDefinition& definition);
  /// The node let go of these templates. Ids of classes that stand do not change.
  void forget(std::uint32_t node, const std::vector<LocalTemplateId>& ids);

  // What follows takes in the definitions that wait.

  /// Job-wide template of a local one; TemplateId(0) as long as it is not defined.
  TemplateId resolve(std::uint32_t node, LocalTemplateId id);
  /// The id that stands for a present or former one; an unknown id stands for itself.
  TemplateId canonical(TemplateId id);

  /// Most general text of a class; empty if the id is unknown.
  std::string text(TemplateId id);
  /// Most severe level that any node gave.
  Level level(TemplateId id);

  /// All classes, ascending by id.
  std::vector<TemplateId> all();
  std::size_t size();

  /// Ids that ceased to stand for themselves since the last call, in order.
  std::vector<Rename> take_renames();

  /// Distinct definitions that nodes stand by.
  std::size_t sayings() const { return sayings_.size() - free_.size(); }

  /// All of it: a table that loads it goes on as this one would.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  using Element = std::uint32_t;
  using SayingId = std::uint32_t;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Class {
    TemplateId id;  // smallest skeleton; 0: none yet
    Level level = Level::unknown;
    std::vector<drain::GroupId> groups;
  };
  /// A definition, whoever gives it.
  struct Saying {
    std::uint64_t key = 0;
    std::uint32_t users = 0;
    Element element = kNone;  // once it is taken in; what follows is empty then
    Level level = Level::unknown;
    std::string text;
    std::vector<Skeleton> skeletons;
  };
  struct Local {
    SayingId saying = kNone;
    Element element = kNone;  // once something of it was taken in
    std::uint32_t alias_of = kNone;
    std::uint32_t generation : 31 = 0;  // of what it says
    bool fresh : 1 = false;
  };

  SayingId intern(const wire::TemplateDefinition& definition);
  void release(SayingId id);
  void settle();
  void settle(FlatTable<Local>& locals);
  void sweep();
  Element new_element();
  Element root(Element element) const;
  Element unite(Element a, Element b);
  void give_id(Class& known, TemplateId id);
  Element element_of(Local& local);
  Element element_of(Saying& saying);
  Element group_element(const Saying& saying);
  const Class* find(TemplateId id);
  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self);
  template <class Archive, class Self>
  static void persist_classes(Archive& archive, Self& self);
  bool is_whole();

  std::vector<FlatTable<Local>> locals_;  // by node
  std::vector<Saying> sayings_;
  std::vector<SayingId> free_;
  FlatTable<SayingId> known_;  // by hash of the definition
  bool fresh_ = false;         // some definitions wait
  std::size_t dead_ = 0;       // sayings that were taken in and have gone, since sweep()

  drain::Grouping grouping_;
  std::vector<Element> parents_;
  std::unordered_map<Element, Class> classes_;                  // roots
  std::unordered_map<drain::GroupId, Element> group_elements_;  // standing groups
  FlatTable<Element> skeleton_elements_;
  std::vector<Rename> renames_;
};

}  // namespace l4::job
