// Heads of tables whose rows are the progress of a training, and the counters of their rows.
#include "agent/segment/table_head.h"

#include <doctest/doctest.h>

#include <string_view>

namespace l4::segment {
namespace {

TEST_CASE("table head: kind 'a table of a notebook': the head names the counter of the rows") {
  struct Row {
    std::string_view head, row;
    std::int64_t value;
    Unit unit = Unit::iteration;
  };
  for (const Row& row : {
           Row{"Step\tTraining Loss", "96\t0.976521", 96},
           Row{"    Step\tTraining Loss\tValidation Loss", "    500\tNo log\t0.71", 500},
           Row{"epoch     train_loss  valid_loss  accuracy  time",
               "7         0.653210    0.421098    0.812300  00:35", 7, Unit::epoch},
           Row{"step,loss,lr", "1200,2.31,1.5e-04", 1200},
           Row{"| iter | loss | grad norm |", "| 40 | 2.5 | nan |", 40},
           Row{"loss | global_step", "2.25 | 31", 31},
           Row{"step,epoch,loss", "120,3,2.31", 120},
           Row{"Epoch\tStep\tLoss", "3\t120\t2.31", 120},
       }) {
    CAPTURE(row.head);
    const auto head = TableHead::read(row.head);
    REQUIRE(head);
    const auto counter = head->counter_of(row.row);
    REQUIRE(counter);
    CHECK(counter->value == row.value);
    CHECK(counter->unit == row.unit);
    CHECK(counter->sign == Sign::word);
  }
}

TEST_CASE("table head: what is no head, and no row") {
  for (const std::string_view line :
       {"step 5 loss 2.1", "training loss", "Step by step", "NAME  READY  STATUS  RESTARTS  AGE",
        "epoch and step are counted", "", "\t\t", "loss, accuracy, time"}) {
    CAPTURE(line);
    CHECK_FALSE(TableHead::read(line));
  }
  const auto head = TableHead::read("Step\tTraining Loss");
  REQUIRE(head);
  for (const std::string_view row : {"    449", "--> 450   output = train()", "96", "96\t0.9\t0.8",
                                     "0.9\t96", "step\tloss", "", "12\treturn f(x)"}) {
    CAPTURE(row);
    CHECK_FALSE(head->counter_of(row));
  }
}

}  // namespace
}  // namespace l4::segment
