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
        const isLate = loop.recordRequest(nowMs, isCritical)
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

/** A loop that has been busy for a while, with one request in each turn. */
function busyLoop() {
  const loop = loopOf()
  for (let i = 0; i < 80; i++) loop.turn(1)
  return loop
}

test('a request of a turn has waited for those before it', () => {
  expect(busyLoop().turn(40).indexOf(true)).toBe(24)
})

test('without a pause, it has waited for half of the turn before as well', () => {
  const { turn, wait } = busyLoop()
  turn(20)
  expect(turn(40).indexOf(true)).toBe(15)
  wait(1.5)
  expect(turn(40).indexOf(true)).toBe(25)
})

test('a burst that finds an idle loop has 400 ms, but not soon after another', () => {
  const { turn, wait } = loopOf()
  expect(turn(100).indexOf(true)).toBe(80)
  wait(1000)
  expect(turn(100).indexOf(true)).toBe(25)
  wait(2001)
  expect(turn(100).indexOf(true)).toBe(80)
})

test('once a turn of denials is over, requests are handled again', () => {
  const { turn } = busyLoop()
  turn(200)
  expect(turn(3)).toEqual([false, false, false])
})

test('a critical request is late only after half a second', () => {
  const { turn } = busyLoop()
  turn(30) // 24 are handled
  expect(turn(120, 5, 0, true).indexOf(true)).toBe(89)
})

test('one request is handled whenever denials have taken 20 ms', () => {
  const { turn } = busyLoop()
  const late = turn(24 + 20, 5, 4)
  expect(late.slice(24).flatMap((isLate, i) => (isLate ? [] : [i]))).toEqual([5, 11, 17])
})

test('a few connections that always have a request are no queue', () => {
  const { turn } = loopOf()
  for (let i = 0; i < 300; i++) expect(none(turn(16))).toBe(true)
})

test('a connection in each turn is no queue that could be seen', () => {
  const { turn } = loopOf()
  for (let i = 0; i < 300; i++) expect(turn(1)).toEqual([false])
})

test('a pause makes no request late, and neither do those that had to wait for it', () => {
  const { turn, work } = loopOf()
  expect(turn(1, 900)).toEqual([false])
  work(300)
  expect(none(turn(15))).toBe(true)
})

test('turns are counted, with the time since their first request', () => {
  const { loop, turn } = loopOf()
  turn(4)
  expect([loop.turns, loop.lastTurnMs]).toEqual([1, 20])
})

test('the loop is busy from the first request that arrived while it was idle, until it is idle again', () => {
  const { loop, now, turn, wait } = loopOf()
  wait(1000)
  const busyMs = [() => turn(4), () => turn(4), () => wait(10), () => turn(1)].map((act) => {
    act()
    return loop.busyMs(now())
  })
  expect(busyMs).toEqual([20, 40, 50, 5])
})

test('on a platform that does not tell, no request is late, and the loop counts as busy', () => {
  const loop = new LoopWait(undefined)
  expect([loop.recordRequest(1, false), loop.recordRequest(5000, false), loop.turns]).toEqual([
    false,
    false,
    0,
  ])
  expect(loop.busyMs(5000)).toBe(Number.POSITIVE_INFINITY)
})

test('in a real event loop, a turn ends once its events are handled', async () => {
  const loop = loopWait()
  const { turns: before } = loop
  loop.recordRequest(performance.now(), false)
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
  [1.2, 0.95],
  [2, 0.9],
  [5, 0.8],
])('at %d times the capacity, the server does useful work most of the time', (times, least) => {
  const { used } = underLoad(times, 30, 1000)
  expect(used).toBeGreaterThan(least)
  expect(used).toBeLessThan(1)
})
