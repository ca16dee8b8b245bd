// Where the numbers of a room stand while the program runs.
//
// Place in the flow: the header of each room (crash.h, hang.h, ...) hands out its own as constant;
// only table.h writes them, before the first job is judged. One object for each room and process,
// so that a loop reads a number as it would read a constant: no look-up, no parameter.
#pragma once

namespace l4::numbers {

template <class Room>
inline constinit Room in_force = {};

}  // namespace l4::numbers
