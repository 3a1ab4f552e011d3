/**
 * A login with sessions and hashed passwords, guarded by headgate:
 *
 *     npx tsx examples/login.ts
 *
 * Then open http://localhost:3000. PORT sets another port. SESSION_SECRET, GUARD_SECRET, DEVICE_SECRET and
 * SUPPORT_TOKEN are secrets. Except on localhost, serve it over TLS: browsers keep the device cookie only
 * there.
 */
import type { AddressInfo } from 'node:net'
import express, { type Express, type Request } from 'express'
import session from 'express-session'
import { adjustments, foldName, type LoginGuard, loginGuard } from 'headgate'
import { CONTENT_POLICY, homePage, loginPage } from './login/page.js'
import { passwordCheck } from './login/passwords.js'
import { isSame, secretFrom } from './login/secrets.js'

declare module 'express-session' {
  interface SessionData {
    name: string
  }
}

const PASSWORDS = { ada: 'analytical engine', grace: 'nanoseconds' }
const SUPPORT_TOKEN = secretFrom('SUPPORT_TOKEN')

/**
 * Creates the application. Behind a proxy, add `app.set('trust proxy', 1)`: otherwise all visitors share the
 * proxy's address.
 */
export async function loginApp(): Promise<{ app: Express; guard: LoginGuard }> {
  const isRight = await passwordCheck(PASSWORDS)
  const guard = makeGuard()

  const app = express().disable('x-powered-by').disable('etag')
  app.use((_req, res, next) => {
    res.set('Cache-Control', 'no-store')
    res.set('Content-Security-Policy', CONTENT_POLICY)
    next()
  })
  app.use(
    session({
      // Without a store, sessions live in memory and end with the process. In production, use a store.
      secret: secretFrom('SESSION_SECRET'),
      name: 'session',
      resave: false,
      saveUninitialized: false,
      cookie: { httpOnly: true, sameSite: 'lax', secure: 'auto' },
    }),
  )

  app.get('/', (req, res) => {
    const { name } = req.session
    if (name === undefined) res.redirect(303, '/login')
    else res.send(homePage(name))
  })

  app.get('/login', (_req, res) => {
    res.send(loginPage())
  })

  // The parser comes first, because the guard reads the name from the body. The guard comes before the
  // password is checked.
  app.post('/login', express.urlencoded(), guard, async (req, res) => {
    const { username, password } = read(req)
    if (!(await isRight(username, password))) {
      // The status tells the guard that this is a failure. Text, headers and time do not reveal whether the
      // account exists.
      res.status(401).send(loginPage({ problem: 'Wrong user name or password.', username }))
      return
    }
    await newSession(req)
    req.session.name = username
    guard.reportSuccess(req) // without a report, a redirect counts as a failure
    res.redirect(303, '/')
  })

  app.post('/logout', (req, res, next) => {
    req.session.destroy((error) => (error ? next(error) : res.redirect(303, '/login')))
  })

  // Support unlocks an account. With an address, this also clears the account's failures from there and the
  // address itself.
  app.post('/support/forget', express.urlencoded(), async (req, res) => {
    if (!isSame(req.get('authorization') ?? '', `Bearer ${SUPPORT_TOKEN}`)) return res.sendStatus(403)
    const { username, ip } = req.body ?? {}
    await adjustments(guard.limiter).forget({ body: { username }, ...(ip && { ip }) })
    return res.sendStatus(204)
  })

  return { app, guard }
}

/**
 * Creates the guard with its default limits, in memory. Several processes share a store: `store:
 * redisStore(client), name: 'login'`.
 */
function makeGuard(): LoginGuard {
  const guard = loginGuard({
    field: 'username', // folded by foldName, as in read() below: all spellings share their guesses
    secret: secretFrom('GUARD_SECRET'), // names cannot be guessed from hashes in the store or the log
    name: 'login',
    deviceCookie: { secret: secretFrom('DEVICE_SECRET') }, // known browsers get in while strangers guess
    onLockout(account) {
      // After 100 failures in a row, strangers are locked out until support unlocks the account. Notify the
      // owner.
      console.log(`Mail to ${account}: someone is guessing your password. Set a new one.`)
    },
    onDenied(req, res) {
      // The same page for every limit, whether or not the account exists. Retry-After is already set.
      const minutes = Math.ceil(Number(res.get('Retry-After')) / 60)
      const problem = `Too many failed attempts. Try again in ${minutes} minutes.`
      res.status(429).send(loginPage({ problem, username: read(req).username }))
    },
  })
  guard.events.on('security', (event) => console.log(JSON.stringify(event)))
  return guard
}

/** Returns the fields as strings. A body may hold anything: arrays, or nothing at all. */
function read({ body }: Request): { username: string; password: string } {
  const { username, password } = body ?? {}
  return {
    username: foldName(username) ?? '',
    password: typeof password === 'string' ? password : '',
  }
}

/**
 * Starts a session with a new id, so that an id planted in the browser before is worthless (session
 * fixation).
 */
function newSession({ session }: Request): Promise<void> {
  return new Promise((resolve, reject) => {
    session.regenerate((error) => (error ? reject(error) : resolve()))
  })
}

async function main(): Promise<void> {
  const { app, guard } = await loginApp()
  const server = app.listen(Number(process.env.PORT || 3000), '127.0.0.1', (error?: Error) => {
    if (error) throw error
    const url = `http://localhost:${(server.address() as AddressInfo).port}`
    const people = Object.entries(PASSWORDS).map(([name, password]) => `${name} (${password})`)
    console.table(guard.describe())
    console.log(`
Log in at ${url} as ${people.join(' or ')}. Type five wrong passwords to see the guard. Support unlocks the account with:

  curl -H 'Authorization: Bearer ${SUPPORT_TOKEN}' -d 'username=ada&ip=127.0.0.1' ${url}/support/forget
`)
  })
}

if (process.argv[1] === import.meta.filename) main()
