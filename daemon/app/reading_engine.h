// ReadingEngine: an engine for the events of a file. Runs that ended stay, so
// that they can be looked at; nothing else differs.

#ifndef NANWATCH_APP_READING_ENGINE_H_
#define NANWATCH_APP_READING_ENGINE_H_

#include "base/time.h"
#include "engine/engine.h"
#include "model/event.h"

namespace nanwatch {

class ReadingEngine {
 public:
  ReadingEngine();

  // As Engine::Apply.
  void Apply(Time now, const Event& event, Effects* effects);
  Engine& engine() { return engine_; }

 private:
  Engine engine_;
};

}  // namespace nanwatch

#endif  // NANWATCH_APP_READING_ENGINE_H_
