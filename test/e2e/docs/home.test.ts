import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { blocksOf } from './pages.js'

const ROOT = resolve(__dirname, '../../..')
const home = readFileSync(`${ROOT}/docs/index.md`, 'utf8')
const readme = readFileSync(`${ROOT}/README.md`, 'utf8')

test('it has the command, the middleware and the response of the README', () => {
  const [command, code, response] = blocksOf({ path: 'docs/index.md', text: home })
  const middleware = /rateLimit\(.*?\}\)/.exec(code?.code ?? '')?.[0]
  for (const part of [command?.code, middleware, response?.code]) expect(readme).toContain(part)
})

test('its plot is there for a light and for a dark page', () => {
  const [, light = ''] = /!\[.+\]\((plots\/.+-light\.svg)\)/.exec(home) ?? []
  for (const path of [light, light.replace('-light', '-dark')])
    expect(readFileSync(`${ROOT}/docs/${path}`, 'utf8')).toMatch(/^<svg/)
})
