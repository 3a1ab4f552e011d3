import type { Browser } from 'playwright-core'
import { launchChromium } from '../../support/servers/chromium.js'
import { type Answer, ask, type Example, startExample } from './start-example.js'

const SUPPORT_TOKEN = 'a token that only support has'
const DEVICE = /^__Host-headgate-device-[\w-]{8}$/

let example: Example
let browser: Browser

beforeAll(async () => {
  ;[example, browser] = await Promise.all([
    startExample('examples/login.ts', { SUPPORT_TOKEN }),
    launchChromium(),
  ])
}, 600_000) // where Chromium has to be installed first

afterAll(() => Promise.all([example?.stop(), browser?.close()]))

function logIn(username: string, password: string, from: string, cookies: Record<string, string> = {}) {
  const form = new URLSearchParams({ username, password }).toString()
  return ask(`${example.url}/login`, { form, from, headers: sent(cookies) })
}

const home = (cookies: Record<string, string>) => ask(`${example.url}/`, { headers: sent(cookies) })

const sent = (cookies: Record<string, string>) => ({
  Cookie: Object.entries(cookies)
    .map(([name, value]) => `${name}=${value}`)
    .join('; '),
})

function forget(form: string, token = SUPPORT_TOKEN) {
  return ask(`${example.url}/support/forget`, { form, headers: { Authorization: `Bearer ${token}` } })
}

async function fail(times: number, username: string, from: string, cookies = {}): Promise<Answer[]> {
  const answers: Answer[] = []
  for (let i = 0; i < times; i++) answers.push(await logIn(username, 'a guess', from, cookies))
  return answers
}

const statuses = (answers: Answer[]) => answers.map(({ status }) => status)

test('the example prints its limits and its accounts', () => {
  expect(example.printed.out).toMatch(/'consecutive' +│ .* │ 'consecutive: 100'/)
  expect(example.printed.out).toContain(`Log in at ${example.url} as ada (analytical engine)`)
  expect(example.printed.err).toBe('')
})

test('the right password starts a new session, and logout ends it', async () => {
  expect((await home({})).headers.location).toBe('/login')
  const first = await logIn(' ADA ', 'analytical engine', '127.0.1.1')
  expect([first.status, first.headers.location]).toEqual([303, '/'])
  expect((await home(first.cookies)).body).toContain('<h1>Welcome, ada</h1>')
  const flags = (first.headers['set-cookie'] ?? []).map((cookie) => cookie.split('; ').slice(1).sort())
  const device = ['HttpOnly', 'Max-Age=7776000', 'Path=/', 'SameSite=Lax', 'Secure']
  expect(flags).toEqual([device, ['HttpOnly', 'Path=/', 'SameSite=Lax']])

  const { session = '' } = first.cookies
  const second = await logIn('ada', 'analytical engine', '127.0.1.1', { session })
  expect(second.cookies.session).not.toBe(session)
  expect((await home({ session })).status).toBe(303)

  const out = await ask(`${example.url}/logout`, { form: '', headers: sent(second.cookies) })
  expect([out.status, out.headers.location]).toEqual([303, '/login'])
  expect((await home(second.cookies)).status).toBe(303)
})

test('known and unknown accounts are answered alike, guessers are refused, and support can forget them', async () => {
  const right = (from: string, cookies = {}) => logIn('ada', 'analytical engine', from, cookies)
  const { cookies } = await right('127.0.1.1')
  const device = Object.fromEntries(Object.entries(cookies).filter(([name]) => DEVICE.test(name)))

  const known = await fail(6, 'ada', '127.0.1.2')
  const unknown = await fail(6, 'eve', '127.0.1.3')
  expect(statuses(known)).toEqual([401, 401, 401, 401, 401, 429])
  expect(unknown.map((answer) => shown(answer, 'eve'))).toEqual(known.map((answer) => shown(answer, 'ada')))
  expect(least(unknown) / least(known)).toBeGreaterThan(0.33)
  expect(least(unknown) / least(known)).toBeLessThan(3)

  expect(statuses(await fail(5, 'ada', '127.0.1.4'))).toEqual([401, 401, 401, 401, 401])
  const refused = await right('127.0.1.5')
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1800'])
  const { page, submit } = await openForm()
  await submit('ada', 'analytical engine')
  await page.getByRole('alert').getByText('Too many failed attempts. Try again in 30 minutes.').waitFor()
  expect((await right('127.0.1.5', device)).status).toBe(303) // a known browser gets in all the while

  expect((await forget('username=ada', 'a guess')).status).toBe(403)
  expect((await right('127.0.1.5')).status).toBe(429)
  expect((await forget('username=ada')).status).toBe(204)
  expect((await right('127.0.1.5')).status).toBe(303)
  expect((await right('127.0.1.4')).status).toBe(429) // the limit of the account at this address is left
  expect((await forget('username=ada&ip=127.0.1.4')).status).toBe(204)
  expect((await right('127.0.1.4')).status).toBe(303)

  const lines = example.printed.out.split('\n').filter((line) => line.startsWith('{'))
  const entries = lines.map((line) => JSON.parse(line)).filter(({ source_ip }) => /1\.[24]$/.test(source_ip))
  const limits = entries.map(({ event }) => /^authn_login_fail_max:[\w-]{22},(\d+)$/.exec(event)?.[1])
  expect(limits.sort()).toEqual(['10', '5', '5'])
  expect(lines.join()).not.toMatch(/\bada\b|\beve\b|a guess|analytical/)
})

/** Returns an answer without its date and the name that was typed. */
function shown({ status, rawHeaders, body }: Answer, name: string) {
  const headers = rawHeaders.toSpliced(rawHeaders.indexOf('Date') + 1, 1)
  return { status, headers, body: body.replace(`value="${name}"`, '') }
}

/** The time for a wrong password. */
const least = (answers: Answer[]) =>
  Math.min(...answers.filter(({ status }) => status === 401).map(({ tookMs }) => tookMs))

test('any value of the name is answered', async () => {
  const post = (form: string, headers = {}) =>
    ask(`${example.url}/login`, { form, from: '127.0.1.7', headers })
  expect((await post('username=ada&username=grace&password=x')).status).toBe(400)
  expect((await post('password=x&password=y')).status).toBe(400)
  expect((await post('{}', { 'Content-Type': 'application/json' })).status).toBe(400)
  const { status, body } = await post('username=%22%3E%3Cscript%3E&password=x')
  expect(status).toBe(401)
  expect(body).toContain('value="&#34;&#62;&#60;script&#62;"')
})

test('the login works in a browser without JavaScript', async () => {
  const { page, submit, complaints } = await openForm()
  await submit('grace', 'a guess')
  await page.locator('[role=alert]:focus', { hasText: 'Wrong user name or password.' }).waitFor()
  expect(await page.title()).toMatch(/^Error: /)
  expect(await page.getByLabel('User name').inputValue()).toBe('grace')
  expect(await page.getByLabel('Password').inputValue()).toBe('')

  await submit('grace', 'nanoseconds')
  await page.getByRole('heading', { name: 'Welcome, grace' }).waitFor()
  const names = (await page.context().cookies()).map(({ name }) => name)
  expect(names.sort()).toEqual([expect.stringMatching(DEVICE), 'session'])
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByLabel('User name').waitFor()
  expect(complaints).toEqual([])
})

/** Opens the form in a browser of its own. */
async function openForm() {
  const context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (!/status of (401|429)/.test(message.text())) complaints.push(message.text())
  })
  await page.goto(`${example.url}/`)

  async function submit(username: string, password: string): Promise<void> {
    await page.getByLabel('User name').fill(username)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Log in' }).click()
  }
  return { page, submit, complaints }
}
