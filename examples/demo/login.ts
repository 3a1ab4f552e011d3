import { randomBytes } from 'node:crypto'
import express, { type Express } from 'express'
import { byIp, loginGuard, type Store } from 'headgate'

const USER = 'ada'
const PASSWORD = 'analytical engine'
const secret = randomBytes(32).toString('base64url')

/** Adds a login, which the page attacks while its owner signs in. */
export function serveLogin(app: Express, store: Store): void {
  // #region login-guard
  const guard = loginGuard({
    field: 'username',
    name: 'login',
    deviceCookie: { secret }, // known browsers are limited apart
    address: byIp({ trustProxy: 1 }), // the attack sends its addresses
    store,
  })

  app.post('/login', express.urlencoded(), guard, (req, res) => {
    const isRight = isPassword(req.body.username, req.body.password)
    res.status(isRight ? 200 : 401).json({ signedIn: isRight })
  })
  // #endregion

  app.get('/login/limits', (_req, res) => {
    res.json(guard.describe())
  })

  app.delete('/login', async (_req, res) => {
    await guard.limiter.forget({ body: { username: USER } })
    res.status(204).end()
  })
}

/** A real check would compare hashes, and take as long for a name that nobody has. */
function isPassword(username: unknown, password: unknown): boolean {
  return username === USER && password === PASSWORD
}
