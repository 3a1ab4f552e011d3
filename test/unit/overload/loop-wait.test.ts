import { LoopWait, loopWait } from '../../../src/overload/loop-wait.js'
import { exponential, randomFrom } from '../../tools/simulate/random.js'

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
    now: () => nowMs,
    /** Runs a turn of requests that take 5 ms each unless they are late. Returns which of them are. */
    turn(requests: number, tookMs = 5, denialMs = 0, isCritical = false): boolean[] {
      const late = Array.from({ length: requests }, () => {
        const isLate = loop.isLate(nowMs, isCritical)
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

test('once requests have kept the loop busy for a second, they are late until it has caught up', () => {
  const { turn, wait } = loopOf()
  for (let i = 0; i < 201; i++) expect(turn(1)).toEqual([false])
  expect(turn(5)).toEqual([true, true, true, true, true])
  wait(1)
  expect(turn(1)).toEqual([false])
  expect(turn(3)).toEqual([false, false, false])
})

/** Has requests keep the loop busy until one is late, and then so many in all. Returns how many were not late. */
function episode({ turn, wait }: ReturnType<typeof loopOf>, queue: number): number {
  let handled = 0
  while (none(turn(1))) handled++
  turn(queue - 1)
  wait(1)
  return handled
}

test('the longer the queue that was found, the sooner the next one is found', () => {
  const loop = loopOf()
  // 201 requests of 5 ms found 80 of them: a queue of 400 ms in place of one of 100 ms
  expect([80, 20, 10, 40, 1000].map((queue) => episode(loop, queue))).toEqual([201, 51, 51, 101, 51])
  expect(episode(loop, 1)).toBe(21)
  expect(episode(loop, 1)).toBe(201)
})

test('a critical request is late only after a second', () => {
  const loop = loopOf()
  episode(loop, 1000)
  const { turn } = loop
  expect(turn(30).indexOf(true)).toBe(21)
  expect(turn(2, 5, 0, true)).toEqual([false, false])
  while (none(turn(1, 5, 0, true)));
  expect(turn(2, 5, 0, true)).toEqual([true, true])
})

test('while the queue stands, one request is handled whenever denials have taken 20 ms', () => {
  const { turn } = loopOf()
  while (none(turn(1, 25)));
  const late = turn(20, 25, 4)
  expect(late.flatMap((isLate, i) => (isLate ? [] : [i]))).toEqual([5, 11, 17])
})

test('also within one turn', () => {
  const { turn } = loopOf()
  expect(turn(210).indexOf(true)).toBe(201)
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
  expect([loop.isLate(1, false), loop.isLate(5000, false), loop.turns]).toEqual([false, false, 0])
})

test('in a real event loop, a turn ends once its events are handled', async () => {
  const loop = loopWait()
  const { turns: before } = loop
  loop.isLate(performance.now(), false)
  await Promise.resolve()
  expect(loop.turns).toBe(before)
  await new Promise((resolve) => setImmediate(resolve))
  expect(loop.turns).toBe(before + 1)
})

const SERVICE_MS = 5
const DENIAL_MS = 0.2

/** Requests that arrive at random, this many times as often as they can be handled. Returns what became of them. */
function underLoad(times: number, seconds: number, mostPerTurn: number) {
  const random = randomFrom(1)
  const { turn, wait, now } = loopOf()
  const arrived: number[] = []
  let [late, intime, sent] = [0, 0, 0]
  for (let nextAtMs = 0; now() < seconds * 1000; ) {
    if (arrived.length === 0) wait(Math.max(0, nextAtMs - now()))
    for (; nextAtMs <= now(); nextAtMs += exponential(random, times / SERVICE_MS)) arrived.push(nextAtMs)
    const read = arrived.splice(0, mostPerTurn)
    const beganAtMs = now()
    const verdicts = turn(read.length, SERVICE_MS, DENIAL_MS)
    let doneAtMs = beganAtMs
    for (const [i, isLate] of verdicts.entries()) {
      doneAtMs += isLate ? DENIAL_MS : SERVICE_MS
      sent++
      if (isLate) late++
      else if (doneAtMs - (read[i] as number) < 200) intime++
    }
  }
  return { sent, late, used: (intime * SERVICE_MS) / (seconds * 1000) }
}

test.each([1, 1000])(
  'at 0.7 of the capacity, no request is late in ten minutes (%d per turn)',
  (mostPerTurn) => {
    expect(underLoad(0.7, 600, mostPerTurn)).toMatchObject({ late: 0 })
  },
)

test.each([
  [1.2, 1, 0.9],
  [2, 1, 0.85],
  [2, 1000, 0.85],
  [5, 1, 0.7],
  [5, 1000, 0.7],
])(
  'at %d times the capacity, %d per turn, the server does useful work most of the time',
  (times, mostPerTurn, least) => {
    const { used } = underLoad(times, 30, mostPerTurn)
    expect(used).toBeGreaterThan(least)
    expect(used).toBeLessThan(1)
  },
)
