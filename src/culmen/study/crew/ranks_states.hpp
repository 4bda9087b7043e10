// The states of the other ranks of an MPI launch, as rank 0 knows them. Without communication of its own: the protocol
// asks here which messages it may send.
#pragma once

namespace culmen {

enum class RanksState : unsigned char {
  closed,     ///< MPI was not opened
  waiting,    ///< they wait for an invitation
  invited,    ///< they have an invitation, and rank 0 waits for their answers
  working,    ///< they work for a study or an executor
  refused,    ///< they were told that nothing can start; they wait again once the next study is expected
  dismissed,  ///< they have left for good
  stuck,      ///< one of them did not leave its evaluation: nothing collective can follow
  ended,      ///< MPI has ended, or could not be opened
};

enum class RanksEvent : unsigned char {
  open,      ///< MPI was opened
  expect,    ///< a study is going to start
  abandon,   ///< it cannot start, and no invitation was sent
  invite,    ///< an invitation is sent
  accept,    ///< all ranks can work
  decline,   ///< a rank cannot work
  conclude,  ///< the result is sent
  lose,      ///< a rank did not leave its evaluation
  dismiss,   ///< there is no further study
  end,       ///< MPI ends
};

/// | event    | from                      | to                              |
/// |----------|---------------------------|---------------------------------|
/// | open     | closed                    | waiting                         |
/// | expect   | refused, invited          | waiting                         |
/// | abandon  | waiting                   | refused; the last study: dismissed |
/// | invite   | waiting, refused          | invited                         |
/// | accept   | invited                   | working                         |
/// | decline  | invited                   | refused; the last study: dismissed |
/// | conclude | working                   | waiting; the last study: dismissed |
/// | lose     | working                   | stuck                           |
/// | dismiss  | waiting, invited, refused | dismissed                       |
/// | end      | all but stuck and ended   | ended                           |
///
/// An event in any other state changes nothing. A rank other than 0 knows only whether it waits or is dismissed.
class RanksStates {
 public:
  RanksState state() const { return state_; }
  /// False if the event changes nothing: then rank 0 must send nothing.
  bool on(RanksEvent event);
  /// The next study is the last one: the ranks leave with its result, or with the reason why it cannot start.
  void expect_the_last() { is_last_ = true; }
  bool is_last() const { return is_last_; }

 private:
  RanksState state_ = RanksState::closed;
  bool is_last_ = false;
};

}  // namespace culmen
