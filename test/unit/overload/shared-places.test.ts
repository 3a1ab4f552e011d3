import { busyPlaces } from './busy-places.js'

const SECONDS = 16
/** What each of three tenants has of the places of all processes. */
const SHARE = 40 / 3

describe('the places of four processes of ten each, in which all tenants want more', () => {
  /** How often a tenant asks for a place in a process in 25 ms, by the second. */
  type Rate = (process: number, second: number) => number
  const steady: Rate = () => 4

  test.each([
    ['in all', () => 18, steady, steady],
    [
      'in one after the other',
      (process, second) => (Math.floor(second / 2) % 4 === process ? 33 : 0),
      steady,
      steady,
    ],
    ['in all or none', (_, second) => (Math.floor(second / 2) % 2 === 0 ? 18 : 0), steady, steady],
  ] as readonly [string, Rate, Rate, Rate][])(
    'go to one that floods, %s, as far as its share',
    async (_name, ...rates) => {
      const places = await busyPlaces(rates, SECONDS)
      const [flooding = 0, ...others] = places.map((each) => each / SHARE)
      expect(flooding).toBeLessThan(1.15)
      expect(Math.min(...others)).toBeGreaterThan(0.9)
    },
  )

  test('go to those that use only one process, and the rest to one that uses all', async () => {
    const only =
      (at: number): Rate =>
      (process) =>
        process === at ? 5 : 0
    const [everywhere = 0, first = 0, second = 0] = await busyPlaces([() => 18, only(0), only(1)], SECONDS)
    // Without sharing: 30, 5 and 5. What is fair: 20, 10 and 10.
    expect(everywhere).toBeLessThan(23)
    expect(Math.min(first, second)).toBeGreaterThan(8)
  })
})
