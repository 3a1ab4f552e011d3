import { readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import express, { type Request } from 'express'
import { memoryStore, rateLimit } from 'headgate'
import { manualClock } from 'headgate/testing'
import request from 'supertest'
import { blocksOf, brokenLinks } from './pages.js'
import { figureIn, printedRun, printedTables } from './printed-tables.js'

const ROOT = resolve(__dirname, '../../..')
const text = readPage('README.md')

function readPage(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

test('links to the site lead to pages and headings of docs', () => {
  const links = [...text.matchAll(/\(https:\/\/headgate\.github\.io\/headgate\/([^)]*)\)/g)]
  const pages = links.map(([, link = '']) => {
    const [path = '', anchor] = link.split('#')
    return {
      path: 'README.md',
      text: `[a](docs/${path || 'index'}.md${anchor === undefined ? '' : `#${anchor}`})`,
    }
  })
  expect(pages.length).toBeGreaterThan(1)
  expect(pages.flatMap((page) => brokenLinks(ROOT, page))).toEqual([])
})

test('the badges are of this package, its workflow and its license', () => {
  const { name, license, repository } = JSON.parse(readPage('package.json'))
  const home = repository.url.replace(/^git\+|\.git$/g, '')
  const [, workflow] = /\/actions\/workflows\/([\w.]+)\/badge\.svg/.exec(text) ?? []
  expect(readPage(`.github/workflows/${workflow}`)).toMatch(/^name: CI$/m)
  expect(text).toContain(
    `(${home}/actions/workflows/${workflow}/badge.svg)](${home}/actions/workflows/${workflow})`,
  )
  expect(text).toContain(`(https://img.shields.io/npm/v/${name})](https://www.npmjs.com/package/${name})`)
  expect(text).toContain(`[![${license} license](https://img.shields.io/npm/l/${name})](LICENSE)`)
})

test('the comment on the first example is true: 100 at once, then 100 a minute', async () => {
  expect(text).toContain("limit: 100, window: '1m' }) // per IP address: 100 at once, then 100 a minute")
  const clock = manualClock()
  const { limiter } = rateLimit({ limit: 100, window: '1m', store: memoryStore({ clock }), key: () => 'ada' })
  const allowed = async () => (await limiter.charge({ ip: '192.0.2.7' } as Request)).allowed
  const admitted = async () => {
    let count = 0
    while (await allowed()) count++
    return count
  }
  expect(await admitted()).toBe(100)
  let later = 0
  for (let second = 0; second < 60; second++) {
    clock.advance(1000)
    later += await admitted()
  }
  expect(later).toBe(100)
})

test('a client over the limit of the first example gets the response that the README shows', async () => {
  const shown = blocksOf({ path: 'README.md', text }).find(({ language }) => language === 'http')
  const [head = '', body] = shown?.code.split('\n\n') ?? []
  const [status, ...fields] = head.split('\n').filter((line) => !line.startsWith('X-RateLimit-Reset: '))
  const app = express().use(
    rateLimit({ limit: 100, window: '1m', store: memoryStore({ clock: manualClock() }) }),
  )
  for (let i = 0; i < 100; i++) await request(app).get('/').expect(404)
  const response = await request(app).get('/')
  expect(status).toBe(`HTTP/1.1 ${response.status} Too Many Requests`)
  expect(fields).toHaveLength(3)
  for (const field of fields) {
    const [name = '', value] = field.split(': ')
    expect([name, response.get(name)]).toEqual([name, value])
  }
  expect(response.text.trim()).toBe(body)
})

test('each picture in the README is there for a light and for a dark page, with words for those who cannot see it', () => {
  const pictures = [...text.matchAll(/<picture>(.*?)<\/picture>/gs)].map(([, inner = '']) => inner)
  expect(pictures).not.toEqual([])
  for (const picture of pictures) {
    const [, dark] = /<source media="\(prefers-color-scheme: dark\)" srcset="(.+?)">/.exec(picture) ?? []
    const [, light, alt] = /<img src="(.+?)" alt="(.+?)">/.exec(picture) ?? []
    expect(dark).toBe(light?.replace('light', 'dark'))
    expect(alt).not.toBe('')
  }
  expect(text.match(/<img/g)?.length).toBe(pictures.length)
})

test.each(['light', 'dark'])('the animation for a %s page has at most 1 MB', (look) => {
  const { size } = statSync(join(ROOT, `docs/pictures/lane-${look}.webp`))
  expect(size).toBeLessThanOrEqual(1_000_000)
})

test.each(['light', 'dark'])('the plot for a %s page has the figures that the benchmarks print', (look) => {
  const drawn = descriptionOf(`redis-limiters-${look}`)
  const figures = [...drawn.matchAll(/(10,000 keys|one key), (.+?) ([\d,]+)(?:;|$)/g)].map((bar) =>
    bar.slice(1),
  )
  expect(figures).toEqual([...decisionsAt('10,000', '10,000 keys'), ...decisionsAt('1', 'one key')])
})

test('the words for the plot have its figures', () => {
  const [, alt = ''] = /<img src="docs\/plots\/redis-limiters-light.svg" alt="(.+?)">/.exec(text) ?? []
  const [, many = '', one = ''] = /10,000 keys: (.*)\. One key: (.*)\.$/.exec(alt) ?? []
  const figures = (keys: string) => decisionsAt(keys).map(([, , decisions]) => decisions)
  expect(many.match(/\d[\d,]*\d/g)).toEqual(figures('10,000'))
  expect(one.match(/\d[\d,]*\d/g)).toEqual(figures('1'))
})

test('what is said below the plot, and of the speed, is in the printed runs', () => {
  const redis = printedTables(printedRun('test/bench/results/redis.txt'))
  for (const peer of ['rate-limit-redis /', 'rate-limiter-flexible /'])
    expect(figureIn(redis, 'Redis, one caller', { contender: 'headgate, limiter' }, peer)).toBeLessThan(1)
  const live = printedTables(printedRun('test/bench/results/live-profile.txt'))
  const usOf = (contender: string) =>
    figureIn(live, 'Live, allowed, 1 client: sampled', { contender: `${contender}, legacy` }, 'µs a request')
  expect(((usOf('headgate') / usOf('express-rate-limit')) * 2).toFixed(1)).toBe('1.0')
  expect(text).toContain('[half](docs/benchmarks.md)')
})

test.each(['README.md', 'docs/getting-started.md'])(
  '%s says that npm has no headgate for as long as there is no release',
  (path) => {
    const { version } = JSON.parse(readPage('package.json'))
    expect(readPage(path).includes('E404 until the first release')).toBe(version === '0.0.0')
  },
)

/** Returns how many decisions a second the benchmarks print for the contenders in the plot. */
function decisionsAt(keys: string, group = ''): string[][] {
  const tables = printedTables(printedRun('test/bench/results/redis.txt'))
  return ['headgate, limiter', 'rate-limit-redis', 'rate-limiter-flexible'].map((contender) => {
    const value = figureIn(tables, 'Redis, 200 callers in one process', { contender, keys }, 'decisions/s')
    return [group, contender.replace(', limiter', ''), value.toLocaleString('en')]
  })
}

function descriptionOf(plot: string): string {
  return /<desc[^>]*>(.*?)<\/desc>/s.exec(readPage(`docs/plots/${plot}.svg`))?.[1] ?? ''
}
