import { randomFrom } from './random.js'
import { withVirtualTime } from './virtual-time.js'

/** Runs `use`, then the clock for a second. Returns what was logged, with the virtual time. */
async function logOf(use: (log: (what: string) => void) => void): Promise<string[]> {
  const lines: string[] = []
  await withVirtualTime(randomFrom(1), async (time) => {
    use((what) => lines.push(`${time.now()} ${what}`))
    await time.runUntil(1000)
  })
  return lines
}

test('timers run in the order of their times, and none after the end', async () => {
  const log = await logOf((log) => {
    for (const ms of [1001, 30, 1000, 0.5]) setTimeout(() => log(`after ${ms}`), ms)
    setImmediate(() => log('at once'))
  })
  expect(log).toEqual(['0 at once', '0.5 after 0.5', '30 after 30', '1000 after 1000'])
})

test('a cleared timer does not run, and a cleared interval stops', async () => {
  const log = await logOf((log) => {
    const cleared = setTimeout(() => log('cleared'), 10)
    const interval = setInterval(() => log('every 300 ms'), 300)
    clearTimeout(cleared)
    setTimeout(() => clearInterval(interval), 700)
  })
  expect(log).toEqual(['300 every 300 ms', '600 every 300 ms'])
})

test('promises settle before the clock moves on', async () => {
  const log = await logOf((log) => {
    setTimeout(async () => {
      for (let i = 0; i < 20; i++) await new Promise<void>(process.nextTick)
      log('settled')
    }, 10)
    setTimeout(() => log('next'), 10.001)
  })
  expect(log).toEqual(['10 settled', '10.001 next'])
})

test('performance.now and Math.random are virtual meanwhile, and real again afterwards', async () => {
  const before = { now: performance.now, random: Math.random, setTimeout, setImmediate }
  const drawn = await withVirtualTime(randomFrom(1), async (time) => {
    await time.runUntil(42)
    return [performance.now(), Math.random()]
  })
  expect(drawn).toEqual([42, randomFrom(1)()])
  expect({ now: performance.now, random: Math.random, setTimeout, setImmediate }).toEqual(before)
})
