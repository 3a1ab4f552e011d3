import { LoopWait, loopWait } from '../../../src/overload/loop-wait.js'

function turns() {
  let nowMs = 0
  const ends: (() => void)[] = []
  const loop = new LoopWait(
    (end) => ends.push(end),
    () => nowMs,
  )
  /** Runs a turn in which requests are handled at these times. Returns which of them are late. */
  function turn(...atMs: number[]): boolean[] {
    const late = atMs.map((ms) => {
      nowMs = ms
      return loop.isLate(ms)
    })
    for (const end of ends.splice(0)) end()
    return late
  }
  return { loop, turn }
}

test('requests that waited for a pause are not late', () => {
  const { loop, turn } = turns()
  expect(turn(0, 900, 901)).toEqual([false, false, false])
  expect([loop.turns, loop.lastTurnMs]).toEqual([1, 901])
  expect(turn(901, 902)).toEqual([false, false])
  expect(turn(903, 2000)).toEqual([false, false])
})

test('once each turn of 100 ms had late requests, those that waited for more than 5 ms are', () => {
  const { turn } = turns()
  for (let atMs = 0; atMs <= 80; atMs += 20) expect(turn(atMs, atMs + 6, atMs + 20)).not.toContain(true)
  expect(turn(101, 104, 107, 111)).toEqual([false, false, true, true])
  expect(turn(112, 118)).toEqual([false, true])
})

test('a turn without late requests, or a time without requests, ends the queue', () => {
  const { turn } = turns()
  for (let atMs = 0; atMs <= 200; atMs += 20) turn(atMs, atMs + 20)
  expect(turn(220, 227)).toEqual([false, true])
  expect(turn(228, 233)).toEqual([false, false])
  expect(turn(234, 240)).toEqual([false, false])
  for (let atMs = 240; atMs <= 400; atMs += 20) turn(atMs, atMs + 20)
  expect(turn(420, 427)).toEqual([false, true])
  expect(turn(600, 607)).toEqual([false, false])
})

test('on a platform without turns, no request is late', () => {
  const loop = new LoopWait(undefined, () => 0)
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
