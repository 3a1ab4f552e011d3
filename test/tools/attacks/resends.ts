import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import express, { type Request, type Response } from 'express'
import { loginGuard, memoryStore } from 'headgate'
import { listening } from './adapters/express.js'
import { printedTable } from './adapters/table.js'

/** A route that checks one-time codes of a pending user, and also sends them again. */
export interface CodeRoute {
  readonly name: string
  /** The status of the response to a resend. Default 200. */
  readonly status?: number
  /** Whether `skip` exempts resends. */
  readonly isExempt?: true
  /** Whether each resend is in progress while the guesses that it clears fail. */
  readonly isSlow?: true
}

export const CODE_ROUTES: readonly CodeRoute[] = [
  { name: 'resends respond with 200' },
  { name: 'resends respond with 200, and are slow', isSlow: true },
  { name: 'resends respond with 202', status: 202 },
  { name: 'skip exempts resends', isExempt: true },
]

/** From where guesses come. */
export interface Guesser {
  readonly name: string
  /** How many guesses come between two resends. */
  readonly between: number
  /** Returns the address of a guess. */
  addressOf(i: number): string
  /** Whether they come from one browser, which shows the device cookies it gets. */
  readonly isBrowser?: true
}

export const GUESSERS: readonly Guesser[] = [
  { name: 'one address', between: 4, addressOf: () => 'one' },
  { name: 'new addresses', between: 9, addressOf: (i) => `address ${i}` },
  { name: 'one browser', between: 9, addressOf: (i) => `address ${i}`, isBrowser: true },
]

const GUESSES = 1200
const HOUR_MS = 3_600_000

/** Plays an hour of guesses, with a resend after some of them. Returns how many codes were checked. */
export async function guessCodes(route: CodeRoute, guesser: Guesser): Promise<number> {
  let nowMs = Date.UTC(2026, 0, 5, 12, 0, 30)
  let checked = 0
  let began = () => {}
  let finish = () => {}
  const guard = loginGuard<Request, Response>({
    account: () => 'the pending user',
    name: 'codes',
    store: memoryStore({ clock: () => nowMs }),
    address: (req) => req.get('x-from'),
    ...(route.isExempt && { skip: (req) => req.body.resend !== undefined }),
    ...(guesser.isBrowser && { deviceCookie: { secret: 'for the attacks only, and for nothing else' } }),
  })
  const app = express().post('/code', express.json(), guard, async ({ body }, res) => {
    if (body.resend === undefined) {
      checked++
      return void res.sendStatus(401)
    }
    if (route.isSlow) {
      const finished = new Promise<void>((resolve) => {
        finish = resolve
      })
      began()
      await finished
    }
    res.sendStatus(route.status ?? 200)
  })
  const site = await listening(app.listen(0, '::1'))
  const agent = new Agent({ keepAlive: true })
  let cookie: string | undefined

  async function send(body: object, from: string): Promise<string | undefined> {
    const headers = { 'content-type': 'application/json', 'x-from': from, ...(cookie && { cookie }) }
    const req = request({ host: '::1', port: site.port, method: 'POST', path: '/code', agent, headers })
    const response = new Promise<string | undefined>((resolve, reject) => {
      req.on('response', async (res) => {
        await text(res)
        resolve(res.headers['set-cookie']?.[0]?.split(';')[0])
      })
      req.on('error', reject)
    })
    req.end(JSON.stringify(body))
    return response
  }

  /** Sends a resend, which is over once `finish` has been called; at once if resends are not slow. */
  async function resend(i: number): Promise<() => Promise<void>> {
    const begun = new Promise<void>((resolve) => {
      began = resolve
    })
    const sent = send({ resend: true }, guesser.addressOf(i)).then((fresh) => {
      if (guesser.isBrowser) cookie = fresh ?? cookie
    })
    await Promise.race([begun, sent])
    return () => {
      finish()
      return sent
    }
  }

  for (let i = 0; i < GUESSES; ) {
    const end = route.isSlow && (await resend(i))
    for (let j = 0; j < guesser.between && i < GUESSES; j++, i++) {
      await send({ code: `${i}` }, guesser.addressOf(i))
      nowMs += HOUR_MS / GUESSES
    }
    await (end || (await resend(i)))()
  }
  agent.destroy()
  await site.close()
  return checked
}

/** Plays all, and returns the table as it is printed. */
export async function playResends(): Promise<string> {
  const lines: string[][] = []
  for (const route of CODE_ROUTES) {
    const cells: string[] = []
    for (const guesser of GUESSERS) cells.push(String(await guessCodes(route, guesser)))
    lines.push([route.name, ...cells])
  }
  const title = `${GUESSES} guesses at a one-time code within an hour, with a resend after every few: how many were checked`
  return printedTable(title, [['route', ...GUESSERS.map(({ name }) => name)], ...lines])
}
