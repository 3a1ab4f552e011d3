import { LoopWait, loopWait } from '../../../src/overload/loop-wait.js'

/** A loop whose turns begin and end when they are told to. */
function loopOf() {
  let nowMs = 0
  let idleMs = 0
  const ends: (() => void)[] = []
  const loop = new LoopWait({
    now: () => nowMs,
    idleMs: () => idleMs,
    afterEvents: (end) => ends.push(end),
  })
  return {
    loop,
    /** Runs a turn of requests that take 5 ms each unless they are late. Returns which of them are. */
    turn(requests: number, tookMs = 5, denialMs = 0): boolean[] {
      const late = Array.from({ length: requests }, () => {
        const isLate = loop.isLate(nowMs)
        nowMs += isLate ? denialMs : tookMs
        return isLate
      })
      for (const end of ends.splice(0)) end()
      return late
    },
    wait(ms: number) {
      nowMs += ms
      idleMs += ms
    },
    work(ms: number) {
      nowMs += ms
    },
  }
}

const none = (late: readonly boolean[]) => !late.includes(true)

test('once requests have kept the loop busy for 100 ms, they are late until it has caught up', () => {
  const { turn, wait } = loopOf()
  for (let i = 0; i < 21; i++) expect(turn(1)).toEqual([false])
  expect(turn(5)).toEqual([true, true, true, true, true])
  wait(2)
  expect(turn(1)).toEqual([false])
  expect(turn(3)).toEqual([false, false, false])
})

test('while the queue stands, one request is handled whenever denials have taken 20 ms', () => {
  const { turn } = loopOf()
  while (none(turn(1, 25)));
  const late = turn(20, 25, 4)
  expect(late.flatMap((isLate, i) => (isLate ? [] : [i]))).toEqual([5, 11, 17])
})

test('also within one turn', () => {
  const { turn } = loopOf()
  expect(turn(30)).toEqual(Array.from({ length: 30 }, (_, i) => i > 20))
})

test('a loop that waits now and then is not busy, at nine tenths of its capacity', () => {
  const { turn, wait } = loopOf()
  for (let i = 0; i < 200; i++) {
    expect(none(turn(9))).toBe(true)
    wait(5)
  }
})

test('a pause makes no request late, and neither do those that had to wait for it', () => {
  const { turn } = loopOf()
  expect(turn(1, 900)).toEqual([false])
  expect(none(turn(15))).toBe(true)
})

test('work that is not on requests does not count', () => {
  const { turn, work } = loopOf()
  for (let i = 0; i < 100; i++) {
    expect(turn(1)).toEqual([false])
    work(6)
  }
})

test('turns are counted, with the time since their first request', () => {
  const { loop, turn } = loopOf()
  turn(4)
  expect([loop.turns, loop.lastTurnMs]).toEqual([1, 20])
})

test('on a platform that does not tell, no request is late', () => {
  const loop = new LoopWait(undefined)
  expect([loop.isLate(1), loop.isLate(5000), loop.turns]).toEqual([false, false, 0])
})

test('in a real event loop, a turn ends once its events are handled', async () => {
  const loop = loopWait()
  const { turns: before } = loop
  loop.isLate(performance.now())
  await Promise.resolve()
  expect(loop.turns).toBe(before)
  await new Promise((resolve) => setImmediate(resolve))
  expect(loop.turns).toBe(before + 1)
})
