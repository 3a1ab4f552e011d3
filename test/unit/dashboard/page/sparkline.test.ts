import { pageModule } from '../../../support/page-module.js'

interface Drawn {
  readonly stepMs: number
  readonly fromMs: number
  readonly allowed: readonly number[]
  readonly outages?: readonly { readonly fromMs: number; readonly toMs: number }[]
}

const { shadeOf } = pageModule<{ shadeOf(series: Drawn, outageMs?: number): string }>('sparkline.js')

/** 100 s, of which each is 1.6 wide. */
const series = { stepMs: 10_000, fromMs: 1_000_000, allowed: Array<number>(11).fill(1) }
const outage = (from: number, to: number) => ({
  fromMs: 1_000_000 + 1000 * from,
  toMs: 1_000_000 + 1000 * to,
})

test.each<[string, Drawn, number | undefined, string]>([
  ['no outage', series, undefined, ''],
  ['one that is over', { ...series, outages: [outage(50, 75)] }, undefined, 'M80 0H120V28H80Z'],
  ['one that lasts', series, 1_050_000, 'M80 0H160V28H80Z'],
  ['both', { ...series, outages: [outage(0, 25)] }, 1_050_000, 'M0 0H40V28H0ZM80 0H160V28H80Z'],
  ['one that began before', { ...series, outages: [outage(-500, 25)] }, undefined, 'M0 0H40V28H0Z'],
  ['one that was over before', { ...series, outages: [outage(-500, -400)] }, undefined, ''],
  [
    'a short one, which can be seen',
    { ...series, outages: [outage(50, 50.1)] },
    undefined,
    'M78.2 0H80.2V28H78.2Z',
  ],
  ['a short one at the start', { ...series, outages: [outage(-1, 0.1)] }, undefined, 'M0 0H2V28H0Z'],
])('the shade of %s', (_, drawn, outageMs, path) => {
  expect(shadeOf(drawn, outageMs)).toBe(path)
})
