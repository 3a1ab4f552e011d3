import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { blocksOf } from './pages.js'

const ROOT = resolve(__dirname, '../../..')
const home = readFileSync(`${ROOT}/docs/index.md`, 'utf8')
const readme = readFileSync(`${ROOT}/README.md`, 'utf8')

test('the home page has at most 200 words, code and markup included, as wc -w counts', () => {
  expect(home.trim().split(/\s+/).length).toBeLessThanOrEqual(200)
})

test('its code is that of the README, in three lines, and its response is in the README also', () => {
  const [command, code, response] = blocksOf({ path: 'docs/index.md', text: home })
  expect(command?.code).toBe('npm install headgate')
  const lines = code?.code.split('\n').filter((line) => line !== '') ?? []
  expect(lines).toHaveLength(3)
  const inReadme = readme.replace('// per IP', '// Per IP')
  for (const part of [lines[0] ?? '', lines[1] ?? '', "rateLimit({ limit: 100, window: '1m' })"])
    expect(inReadme).toContain(part)
  expect(lines[2]).toBe("app.use(rateLimit({ limit: 100, window: '1m' }))")
  expect(readme).toContain(response?.code)
})

test('it has six cards, each of which leads to another page', () => {
  const [, cards = ''] = /<div class="cards">(.*?)<\/div>/s.exec(home) ?? []
  const pages = [...cards.matchAll(/^- \[[^\]]+\]\(([\w/-]+\.md)[^)]*\)\n\n {2}\S/gm)].map(([, page]) => page)
  expect(new Set(pages).size).toBe(6)
  expect(cards.match(/^- /gm)).toHaveLength(6)
})

test('its plot is there for a light and for a dark page', () => {
  const [, light = ''] = /!\[.+\]\((plots\/.+-light\.svg)\)/.exec(home) ?? []
  for (const path of [light, light.replace('-light', '-dark')])
    expect(readFileSync(`${ROOT}/docs/${path}`, 'utf8')).toMatch(/^<svg/)
})
