import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import express from 'express'
import { loginGuard, memoryStore, rateLimit } from 'headgate'
import { manualClock } from 'headgate/testing'
import request, { type Response } from 'supertest'
import { blocksOf } from './pages.js'

const text = readFileSync(resolve(__dirname, '../../../docs/getting-started.md'), 'utf8')
const blocks = blocksOf({ path: join('docs', 'getting-started.md'), text })
const codeIn = (language: string) =>
  blocks.filter((block) => block.language === language).map(({ code }) => code)
const [passed = '', denied = '', locked = ''] = codeIn('http')

/** The app of the page, with a store whose time stands still. */
function appOfPage() {
  const store = memoryStore({ clock: manualClock() })
  const app = express()
  app.use('/api', rateLimit({ name: 'api', limit: 5, window: '1m', store }))
  app.get('/api/hello', (_req, res) => {
    res.send('hello\n')
  })
  app.post('/login', express.urlencoded(), loginGuard({ field: 'username', store }), (req, res) => {
    res.sendStatus(req.body.password === 'engine' ? 200 : 401)
  })
  return app
}

test('the limits are those of the page', () => {
  expect(
    codeIn('ts')
      .join('\n')
      .match(/limit: 5, window: '1m'/g),
  ).toHaveLength(2)
  expect(codeIn('ts').join('\n')).toContain("loginGuard({ field: 'username',")
})

test('the first request and one over the limit get the responses that the page shows', async () => {
  const app = appOfPage()
  expectShown(passed, await request(app).get('/api/hello'))
  const others: Response[] = []
  for (let i = 0; i < 6; i++) others.push(await request(app).get('/api/hello'))
  expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429, 429])
  expectShown(denied, others[4] as Response)
})

test('requests count down as the page shows for two processes', async () => {
  const app = appOfPage()
  const left: string[] = []
  for (let i = 0; i < 3; i++) {
    const response = await request(app).get('/api/hello')
    left.push(`X-RateLimit-Remaining: ${response.get('X-RateLimit-Remaining')}`)
  }
  expect(codeIn('text')).toContain(left.join('\n'))
})

test('guesses at a password get what the page shows, and so does the right one after them', async () => {
  const app = appOfPage()
  const login = (password: string) =>
    request(app).post('/login').type('form').send({ username: 'ada', password })
  const statuses: number[] = []
  for (let i = 0; i < 6; i++) statuses.push((await login('guess')).status)
  expect(codeIn('text')).toContain(statuses.join('\n'))
  expectShown(locked, await login('engine'))
})

/** Compares a response with a block, but not `X-RateLimit-Reset`, which is a time of day. */
function expectShown(block: string, response: Response): void {
  const [head = '', body] = block.split('\n\n')
  const [status, ...fields] = head.split('\n').filter((line) => !line.startsWith('X-RateLimit-Reset: '))
  expect(status?.split(' ')[1]).toBe(`${response.status}`)
  expect(fields.length).toBeGreaterThan(0)
  for (const field of fields) {
    const [name = '', value] = field.split(': ')
    expect([name, response.get(name)]).toEqual([name, value])
  }
  expect(response.text.trim()).toBe(body)
}
