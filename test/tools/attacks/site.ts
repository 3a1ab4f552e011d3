import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import express, { type Request, type Response } from 'express'
import { adjustments, loginGuard, memoryStore } from 'headgate'
import { accountAsTyped, accountOf, passwordOf } from './accounts.js'

/** What is sent to the login, and from where. */
export interface Attempt {
  /** Whose: the handler counts guesses apart. */
  readonly by: 'guesser' | 'user'
  readonly type: string
  readonly body: string
  /** `X-Forwarded-For` as it arrives. */
  readonly forwarded?: string | undefined
  /** The address that the connection comes from. */
  readonly local?: string | undefined
  readonly cookie?: string | undefined
  /** Hangs up when the handler has begun, before there is an answer. */
  readonly hangsUp?: boolean
  readonly hold?: Hold | undefined
  /**
   * Default: `/login`. `/login-as-typed`, behind the same guard, compares names as they are typed. At
   * `/public` anybody can have any name, behind a guard of its own with the same secret.
   */
  readonly path?: string | undefined
}

/** Has the handler of a request wait before it responds. */
export interface Hold {
  /** Called when the handler has begun. */
  begin(): void
  readonly until: Promise<void>
}

export interface Answer {
  readonly status: number
  /** The cookie that a browser sends from now on. */
  readonly cookie: string | undefined
}

/** A login form behind a guard with the default limits, on a server, with a manual clock. */
export interface Site {
  send(attempt: Attempt): Promise<Answer>
  /** Lets time pass, for the limits; the cookies' time is the real one. */
  advance(ms: number): void
  /** Releases an account, as support staff does. */
  forget(account: string): Promise<void>
  /** Guesses that the handler saw. */
  readonly reached: number
  /** Accounts whose password was guessed, as the handler saw. */
  readonly lost: ReadonlySet<string>
  /** Accounts that `onLockout` was called with. */
  readonly lockedOut: readonly string[]
  close(): Promise<void>
}

export interface SiteOptions {
  readonly hasCookies: boolean
  readonly trustsProxy: boolean
}

/** A moment at which no window of the default limits begins or ends soon. */
const NOON_MS = Date.UTC(2026, 0, 5, 12, 0, 30)
const SECRET = 'for the attacks only, and for nothing else'

/**
 * Starts a site of its own. Its handler looks into the table of passwords, whatever the guard has decided
 * before.
 */
export async function startSite({ hasCookies, trustsProxy }: SiteOptions): Promise<Site> {
  let nowMs = NOON_MS
  let reached = 0
  const lost = new Set<string>()
  const lockedOut: string[] = []
  const guard = loginGuard({
    field: 'username',
    path: ['/login', '/login-as-typed'],
    store: memoryStore({ clock: () => nowMs }),
    onLockout: (account) => lockedOut.push(account),
    ...(hasCookies && { name: 'login', deviceCookie: { secret: SECRET } }),
  })

  const publicGuard = loginGuard({
    field: 'username',
    store: memoryStore({ clock: () => nowMs }),
    ...(hasCookies && { name: 'public', deviceCookie: { secret: SECRET } }),
  })

  function isRight(req: Request, find = accountOf): boolean {
    const { username, password } = (req.body ?? {}) as Record<string, unknown>
    const account = find(username)
    const isSo = account !== undefined && passwordOf(account) === password
    if (req.get('x-by') === 'guesser') {
      reached++
      if (isSo) lost.add(account)
    }
    return isSo
  }

  const app = express().set('trust proxy', trustsProxy ? 1 : false)
  const parsers = [express.urlencoded({ extended: true }), express.json()]
  app.post('/login', parsers, guard, async (req: Request, res: Response) => {
    const status = isRight(req) ? 200 : 401
    if (req.get('x-hangs-up') !== undefined) await hungUp(req, res)
    const hold = holds.get(req.get('x-hold'))
    hold?.begin()
    await hold?.until
    res.status(status).send(status === 200 ? 'Welcome' : 'Wrong name or password')
  })
  app.post('/login-as-typed', parsers, guard, (req: Request, res: Response) => {
    res.sendStatus(isRight(req, accountAsTyped) ? 200 : 401)
  })
  app.post('/:lang/login', parsers, guard, (req: Request, res: Response) => {
    const isIn = isRight(req)
    if (isIn) guard.reportSuccess(req)
    res.redirect(`/${req.params.lang}/${isIn ? 'home' : 'login'}`)
  })

  app.post('/public', parsers, publicGuard, (_req: Request, res: Response) => void res.send('Welcome'))

  const agent = new Agent({ keepAlive: true })
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const calls = new Map<string, () => void>()
  const holds = new Map<string | undefined, Hold>()
  let sent = 0

  /** Signals to the client that its handler runs, and waits until the client has hung up. */
  async function hungUp(req: Request, res: Response): Promise<void> {
    const gone = once(res, 'close')
    calls.get(req.get('x-hangs-up') as string)?.()
    await gone
  }

  function send({
    by,
    type,
    body,
    forwarded,
    local,
    cookie,
    hangsUp = false,
    hold,
    path = '/login',
  }: Attempt): Promise<Answer> {
    const call = String(++sent)
    if (hold !== undefined) holds.set(call, hold)
    const req = request({
      host: '127.0.0.1',
      port,
      method: 'POST',
      path,
      agent,
      ...(local !== undefined && { localAddress: local }),
      headers: {
        'Content-Type': type,
        'Content-Length': Buffer.byteLength(body),
        'X-By': by,
        ...(forwarded !== undefined && { 'X-Forwarded-For': forwarded }),
        ...(cookie !== undefined && { Cookie: cookie }),
        ...(hangsUp && { 'X-Hangs-Up': call }),
        ...(hold && { 'X-Hold': call }),
      },
    })
    req.end(body)
    return new Promise((resolve, reject) => {
      calls.set(call, () => {
        req.once('close', () => resolve({ status: 0, cookie: undefined }))
        req.destroy()
      })
      req.once('response', (res) => answerOf(res).then(resolve, reject))
      req.on('error', (error) => !req.destroyed && reject(error))
    }).finally(() => {
      calls.delete(call)
      holds.delete(call)
    }) as Promise<Answer>
  }

  return {
    send,
    advance: (ms) => {
      nowMs += ms
    },
    forget: async (username) => {
      await adjustments(guard.limiter).forget({ body: { username } }, { limits: ['account', 'consecutive'] })
    },
    get reached() {
      return reached
    },
    lost,
    lockedOut,
    close: async () => {
      agent.destroy()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function answerOf(res: IncomingMessage): Promise<Answer> {
  await text(res)
  return { status: res.statusCode ?? 0, cookie: res.headers['set-cookie']?.[0]?.split(';', 1)[0] }
}
