import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import sharp from 'sharp'
import { launchChromium } from '../../support/servers/chromium.js'
import { keepPlot, keepPlotsIn } from './keep-plot.js'
import { LOOKS } from './look.js'
import { type BarPlot, barPlot, type LinePlot, linePlot } from './plot.js'

const OURS = 'headgate, sliding window & <more>'
const GROUP = 'a group whose name is longer than any label, in bold type'
const PEER = 'express-rate-limit'
const [OUR_COLOR] = LOOKS.light.ours
const [PEER_COLOR] = LOOKS.light.peers

const BARS: BarPlot = {
  title: 'Bars & <b>more</b>',
  unit: 'µs, less is better',
  bars: [
    { group: GROUP, label: OURS, value: 7_500.4 },
    { group: GROUP, label: PEER, value: 30_000 },
    { group: 'one key', label: OURS, value: 15_000 },
    { group: 'one key', label: PEER, value: 12.84 },
  ],
}

const LINES: LinePlot = {
  title: 'Lines & <b>more</b>',
  xLabel: 'keys',
  yLabel: 'ns per decision, less is better',
  series: [
    { name: OURS, points: points([1_000, 10_000, 10_000_000], [100, 200, 400]) },
    { name: 'headgate, token bucket', points: points([1_000, 10_000_000], [101, 401]) },
    { name: PEER, points: points([1_000, 10_000], [99.54, 1_500]) },
  ],
}

function points(x: readonly number[], y: readonly number[]): [x: number, y: number][] {
  return x.map((value, i) => [value, y[i] ?? Number.NaN])
}

const PLOTS = {
  bars: { ...BARS, draw: () => barPlot(BARS) },
  lines: { ...LINES, draw: () => linePlot(LINES) },
}
const KINDS = ['bars', 'lines'] as const

let browser: Browser
const pages = {} as Record<(typeof KINDS)[number], Page>

beforeAll(async () => {
  const [launched, ...svgs] = await Promise.all([launchChromium(), PLOTS.bars.draw(), PLOTS.lines.draw()])
  browser = launched
  for (const [i, kind] of KINDS.entries()) pages[kind] = await open(svgs[i] ?? '')
}, 600_000) // where Chromium has to be installed first

afterAll(() => browser?.close())

/** Shows an SVG as a document of its own, which Chromium reads as strict XML. */
async function open(svg: string): Promise<Page> {
  const page = await browser.newPage()
  await page.goto(`data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`)
  return page
}

type Box = Record<'x' | 'y' | 'width' | 'height', number>

async function boxes(page: Page, selector: string): Promise<Box[]> {
  const found = await page.locator(selector).all()
  return Promise.all(found.map(async (element) => ({ ...(await element.boundingBox()) }) as Box))
}

describe.each(KINDS)('a plot of %s', (kind) => {
  test('is well-formed, stands alone and is small', async () => {
    expect(await pages[kind].locator('parsererror').count()).toBe(0)
    const svg = await PLOTS[kind].draw()
    expect(svg).not.toMatch(/<script|<image|<use|href=|@import|url\((?!#)/)
    expect(svg.match(/<style/g)).toHaveLength(1) // that of dark pages
    expect(svg.length).toBeLessThan(20_000)
  })

  test('has its own background', async () => {
    expect(await boxes(pages[kind], 'svg > rect[fill="#ffffff"]')).toEqual(await boxes(pages[kind], 'svg'))
  })

  test('has the theme of the page that shows it, whatever the system prefers', async () => {
    const page = await browser.newPage({ colorScheme: 'light' })
    const src = `data:image/svg+xml;base64,${Buffer.from(await PLOTS[kind].draw()).toString('base64')}`
    const colorsOn = async (theme: string) => {
      await page.setContent(`<html style="color-scheme: ${theme}"><img src="${src}" alt="">`)
      await page.evaluate('document.images[0].decode()')
      return colorsOf(await page.locator('img').screenshot())
    }
    const { light, dark } = LOOKS
    const [onLight, onDark] = [await colorsOn('light'), await colorsOn('dark')]
    await page.close()
    expect(onLight).toEqual(expect.arrayContaining([light.background, light.ours[0]]))
    expect(onDark).toEqual(expect.arrayContaining([dark.background, dark.ours[0]]))
    expect(onDark.filter((color) => onLight.includes(color))).toEqual([])
  })

  test('is an image whose name is its title, with a description', async () => {
    expect(await pages[kind].getByRole('img', { name: PLOTS[kind].title, exact: true }).count()).toBe(1)
    expect(await pages[kind].locator('svg > desc').textContent()).toContain(OURS)
  })

  test('shows all of each text, and none overlaps another', async () => {
    const [svg] = await boxes(pages[kind], 'svg')
    const texts = await boxes(pages[kind], 'text')
    expect(texts.length).toBeGreaterThan(10)
    expect(texts.filter((text) => !isWithin(text, svg as Box))).toEqual([])
    expect(texts.filter((a, i) => texts.slice(i + 1).some((b) => doOverlap(a, b)))).toEqual([])
  })

  test('is the same text for the same figures, whatever was drawn before', async () => {
    const first = await PLOTS[kind].draw()
    await linePlot({ ...LINES, series: LINES.series.slice(1) })
    expect(await PLOTS[kind].draw()).toBe(first)
  })
})

/** Returns the colors of more than a few pixels of a picture. */
async function colorsOf(png: Buffer): Promise<string[]> {
  const { data, info } = await sharp(png).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  const counts = new Map<string, number>()
  for (let i = 0; i < data.length; i += info.channels) {
    const color = `#${data.toString('hex', i, i + 3)}`
    counts.set(color, (counts.get(color) ?? 0) + 1)
  }
  return [...counts].filter(([, count]) => count > 100).map(([color]) => color)
}

function isWithin(a: Box, b: Box): boolean {
  return a.x >= b.x && a.y >= b.y && a.x + a.width <= b.x + b.width && a.y + a.height <= b.y + b.height
}

function doOverlap(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

test('bars have their groups, labels, values and unit beside them', async () => {
  const texts = await pages.bars.locator('text').allTextContents()
  expect(texts).toEqual(expect.arrayContaining([BARS.title, BARS.unit, GROUP, 'one key']))
  expect(texts.filter((text) => text === OURS || text === PEER)).toEqual([OURS, PEER, OURS, PEER])
  expect(texts).toEqual(expect.arrayContaining(['7,500', '30,000', '15,000', '12.8']))
  expect(await pages.bars.locator('desc').textContent()).toContain(`one key, ${PEER} 12.8`)
})

test('bars are as long as their values, from one start, ours in our color', async () => {
  const ours = await boxes(pages.bars, `path[fill="${OUR_COLOR}"]`)
  const [peer] = (await boxes(pages.bars, `path[fill="${PEER_COLOR}"]`)) as [Box]
  expect(peer.width).toBeGreaterThan(300)
  expect(ours.map(({ x }) => x)).toEqual([peer.x, peer.x])
  expect(ours.map(({ width }) => (width / peer.width).toFixed(2))).toEqual(['0.25', '0.50'])
})

test('a plot for readers who prefer dark pages has its own dark background, and light text', async () => {
  const svg = await barPlot(BARS, LOOKS.dark)
  expect(/^<rect width="\d+" height="\d+" x="0" y="0" fill="([^"]+)"/m.exec(svg)?.[1]).toBe(
    LOOKS.dark.background,
  )
  expect(LOOKS.dark.background).toMatch(/^#[01]/)
  const colors = [...svg.matchAll(/<text[^>]* fill="(#\w+)"/g)].map(([, color]) => color)
  expect([...new Set(colors)].sort()).toEqual([LOOKS.dark.muted, LOOKS.dark.text])
  expect(svg).not.toContain(OUR_COLOR)
})

test('lines go up with y and on with the logarithm of x', async () => {
  const pattern = new RegExp(`<path d="M([^"]+)" fill="none" stroke="${OUR_COLOR}"`)
  const [, path = ''] = pattern.exec(await linePlot(LINES)) ?? []
  const drawn = path.split('L').map((point) => point.split(' ').map(Number) as [number, number])
  const [[x0, y0], [x1, y1], [x2, y2]] = drawn as [[number, number], [number, number], [number, number]]
  expect((x2 - x0) / (x1 - x0)).toBeCloseTo(4, 1) // decades
  expect((y0 - y2) / (y0 - y1)).toBeCloseTo(3, 1)
  expect(y2).toBeLessThan(y0)
})

test('lines have a legend, titles of their axes, and every figure in the description', async () => {
  const texts = await pages.lines.locator('text').allTextContents()
  const names = LINES.series.map(({ name }) => name)
  expect(texts).toEqual(expect.arrayContaining([LINES.title, LINES.xLabel, LINES.yLabel, ...names]))
  expect(texts).toEqual(expect.arrayContaining(['1,000', '10,000', '100,000', '1,000,000', '10,000,000']))
  const description = await pages.lines.locator('desc').textContent()
  expect(description).toContain(`${PEER} 99.5 at 1,000, 1,500 at 10,000`)
})

test('the legend stands beside the lines', async () => {
  const [name] = await boxes(pages.lines, 'text:text-is("headgate, token bucket")')
  const ends = (await boxes(pages.lines, `path[stroke="${LOOKS.light.rule}"]`)).map(
    ({ x, width }) => x + width,
  )
  expect(ends.length).toBeGreaterThan(5)
  expect(name?.x).toBeGreaterThan(Math.max(...ends))
})

test('a figure that is not a number throws', async () => {
  const bars = [{ label: OURS, value: Number.NaN }]
  await expect(barPlot({ ...BARS, bars })).rejects.toThrow('A plot was given NaN for a figure.')
  const series = [{ name: OURS, points: points([1, 2], [1, Number.POSITIVE_INFINITY]) }]
  await expect(linePlot({ ...LINES, series })).rejects.toThrow('A plot was given Infinity for a figure.')
})

test('a plot is drawn and written only if plots are kept', async () => {
  const log = jest.spyOn(console, 'log').mockImplementation(() => {})
  const folder = await mkdtemp(join(tmpdir(), 'headgate-plots-'))
  const draw = jest.fn(async () => '<svg/>')
  try {
    await keepPlot('early', draw)
    expect(draw).not.toHaveBeenCalled()
    keepPlotsIn(join(folder, 'plots'))
    await keepPlot('late', draw)
    expect(await readdir(join(folder, 'plots'))).toEqual(['late.svg'])
    expect(await readFile(join(folder, 'plots/late.svg'), 'utf8')).toBe('<svg/>')
  } finally {
    log.mockRestore()
    await rm(folder, { recursive: true })
  }
})
