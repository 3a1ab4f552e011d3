import { randomBytes } from 'node:crypto'
import express, { type Express } from 'express'
import { adjustments, byIp, loginGuard, type Store } from 'headgate'

/** Adds a login, which the page attacks while its owner signs in. */
export function serveLogin(app: Express, store: Store): void {
  // #region login-guard
  // In production, read a fixed secret from the environment.
  const secret = randomBytes(32).toString('base64url')
  const guard = loginGuard({
    field: 'username',
    name: 'login',
    deviceCookie: { secret }, // known browsers are limited apart
    address: byIp({ trustProxy: 1 }), // demo only: the attack sends its addresses
    store, // demo only
  })
  app.post('/login', express.urlencoded(), guard, (req, res) => {
    const { username, password } = req.body ?? {}
    // A real check compares hashes, even for unknown names.
    const isOk = username === 'ada' && password === 'analytical engine'
    res.status(isOk ? 200 : 401).json({ signedIn: isOk })
  })
  // #endregion

  app.get('/login/limits', (_req, res) => {
    res.json(guard.describe())
  })

  app.delete('/login', async (_req, res) => {
    await adjustments(guard.limiter).forget({ body: { username: 'ada' } })
    res.status(204).end()
  })
}
