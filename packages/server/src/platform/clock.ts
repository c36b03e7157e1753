/**
 * The two times that parts may read. `now` is the database's time (due times, leases), so that nodes with different clocks
 * agree. `wall` is this machine's time, for signatures, tokens and HTTP dates of other systems. Tests set both.
 */
export type Clock = {
  /** Milliseconds since 1970, by the database's clock. */
  now(): number
  /** Milliseconds since 1970, by this machine's clock. */
  wall(): number
  /** Calls back once at or after `at` (milliseconds of `now`). Returns a function that cancels it. */
  wakeAt(at: number, wake: () => void): () => void
}

export type SystemClock = Clock & {
  /** Adopts the database's time, measured by the caller. */
  alignTo(databaseNow: number): void
}

/** The seconds since 1970 that a library reads by itself, to translate its times to those of a `Clock`. */
export function librarySeconds(): number {
  return Math.floor(Date.now() / 1_000)
}

/**
 * Returns the real time since the stopwatch was created, in whole milliseconds, as columns and the API have it. For durations
 * that only this process measures; a difference of two times of a `Clock` has a fraction.
 */
export function stopwatch(): () => number {
  const startedAt = performance.now()
  return () => Math.round(performance.now() - startedAt)
}

const TIMEOUT_MS_MAX = 2_147_483_647

/** The real clock: monotonic between two alignments, so a jump of this machine's time moves no due time. */
export function systemClock(): SystemClock {
  let offset = performance.timeOrigin
  const now = (): number => performance.now() + offset
  return {
    now,
    wall: () => Date.now(),
    alignTo: (databaseNow) => {
      offset = databaseNow - performance.now()
    },
    wakeAt: (at, wake) => {
      const timer = setTimeout(wake, Math.min(Math.max(0, at - now()), TIMEOUT_MS_MAX))
      return () => clearTimeout(timer)
    },
  }
}

export type TestClock = Clock & {
  /** How far this machine's time is ahead of the database's; 0 unless a test sets it. */
  wallAheadMs: number
  /** Moves time forward and fires the wake-ups that fall due on the way, in order. */
  advance(ms: number): void
  set(ms: number): void
  /** The number of pending wake-ups. */
  waiting(): number
}

/** A clock that moves only when a test moves it. */
export function testClock(startMs: number): TestClock {
  let time = startMs
  const waiting = new Set<{ at: number; wake: () => void }>()
  const fire = (): void => {
    const due = [...waiting].filter((entry) => entry.at <= time).toSorted((a, b) => a.at - b.at)
    for (const entry of due) {
      waiting.delete(entry)
      entry.wake()
    }
  }
  const clock: TestClock = {
    wallAheadMs: 0,
    now: () => time,
    wall: () => time + clock.wallAheadMs,
    wakeAt: (at, wake) => {
      const entry = { at, wake }
      waiting.add(entry)
      return () => waiting.delete(entry)
    },
    advance: (ms) => {
      time += ms
      fire()
    },
    set: (ms) => {
      time = ms
      fire()
    },
    waiting: () => waiting.size,
  }
  return clock
}
