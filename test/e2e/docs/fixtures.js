import express from 'express'
/** The apps that blocks were given, for the runner to serve. */
export const apps = []
/**
 * What a block may ask for with `<!-- with: app, login -->`, made anew for each block:
 *
 * - `app`: an Express app in which everybody is signed in as Ada, on the free plan.
 * - `login`: a handler that answers 204 to the password `right`, and 401 to others.
 */
export function fixtures() {
  const app = express()
  app.use((req, _res, next) => {
    Object.assign(req, { user: { id: 'ada', plan: 'free' } })
    next()
  })
  apps.push(app)
  const login = (req, res) => {
    res.sendStatus(req.body?.password === 'right' ? 204 : 401)
  }
  return { app, login }
}
