import { type Answer, type Sent, send } from '../../support/http.js'
import { recordWarnings } from '../../support/warnings.js'
import type { Running } from './application.js'
import type { Adapter } from './cases.js'
import { sendAndHold } from './hold.js'
import type { GuardName } from './scenarios.js'

/** Declares the cases that hold for the login guard of every adapter that has one, over real sockets. */
export function loginCases({ name, start }: Adapter): void {
  let running: Running
  recordWarnings()

  beforeAll(async () => {
    running = await start()
  })

  afterAll(() => running.close())

  function attemptOf(guard: GuardName, username: unknown, headers: Sent['headers']): Sent {
    const body = JSON.stringify({ username })
    const ofBody = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    return { method: 'POST', path: `/${guard}`, headers: { ...ofBody, ...headers }, body }
  }

  const attempt = (guard: GuardName, username: unknown, headers: Sent['headers'] = {}): Promise<Answer> =>
    send({ ...running, host: '::1' }, attemptOf(guard, username, headers))

  async function attempts(guard: GuardName, username: unknown, ...answers: number[]): Promise<number[]> {
    const statuses: number[] = []
    for (const status of answers)
      statuses.push((await attempt(guard, username, { 'x-status': status })).status)
    return statuses
  }

  describe(`the login guard of ${name}`, () => {
    test('clears the failures of an account after a success, and refuses after five', async () => {
      expect(await attempts('guarded', 'ada', 401, 401, 401, 401, 200)).toEqual([401, 401, 401, 401, 200])
      const statuses = await attempts('guarded', 'Ada', 401, 401, 401, 401, 401, 200)
      expect(statuses).toEqual([401, 401, 401, 401, 401, 429])
      expect(await attempts('guarded', 'bob', 200)).toEqual([200])
    })

    test('shows no figures of its limits', async () => {
      await attempts('guarded', 'cleo', 401, 401, 401, 401, 401)
      const { status, headers, text } = await attempt('guarded', 'cleo', { accept: 'application/json' })
      expect({ status, retryAfter: headers['retry-after'] }).toEqual({ status: 429, retryAfter: '1800' })
      expect(Object.keys(headers).filter((header) => header.includes('ratelimit'))).toEqual([])
      expect(JSON.parse(text)).not.toHaveProperty('violated-policies')
    })

    test('never takes a response to OPTIONS for a success, and counts a wrong password', async () => {
      const options = (status: number) =>
        send(
          { ...running, host: '::1' },
          { ...attemptOf('guarded', 'dora', { 'x-status': status }), method: 'OPTIONS' },
        )
      expect(await attempts('guarded', 'dora', 401, 401, 401, 401)).toEqual([401, 401, 401, 401])
      const { status, headers } = await options(200)
      expect({ status, cookies: headers['set-cookie'] }).toEqual({ status: 200, cookies: undefined })
      expect([(await options(401)).status, (await options(401)).status]).toEqual([401, 429])
    })

    test('answers 400 where the name is malformed, and lets safe requests pass', async () => {
      expect((await attempt('guarded', ['ada'])).status).toBe(400)
      expect((await send({ ...running, host: '::1' }, { path: '/guarded' })).status).toBe(200)
    })

    test('counts who hangs up while the handler runs as failed', async () => {
      for (let i = 0; i < 5; i++) {
        const held = attemptOf('abandoned', 'ada', { 'x-hold': 'yes' })
        const hangUp = await sendAndHold(running, 'handling', held)
        await hangUp()
      }
      expect(await attempts('abandoned', 'ada', 200)).toEqual([429])
    })

    test('knows a browser again by its cookie', async () => {
      // In Nest, nothing but a 401 shows that the handler checks a password.
      expect(await attempts('remembered', 'eve', 401)).toEqual([401])
      const { headers } = await attempt('remembered', 'ada')
      const [cookie = ''] = headers['set-cookie'] ?? []
      expect(cookie).toMatch(/^__Host-headgate-device-[\w-]{8}=/)
      expect(await attempts('remembered', 'ada', 401, 200)).toEqual([401, 429])
      expect((await attempt('remembered', 'ada', { cookie: cookie.split(';')[0] })).status).toBe(200)
    })
  })
}
