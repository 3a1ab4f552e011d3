import type { AddressInfo } from 'node:net'
import type { Express, RequestHandler, Response, Router } from 'express'
import { loginGuard } from 'headgate'
import { loginStatus } from '../adapters/login.js'
import type { Guards, Listen, SiteContext } from './server.js'

const check: RequestHandler = ({ body }, res) => void res.sendStatus(loginStatus(body))
const accept: RequestHandler = (_req, res: Response) => void res.send('a form, or a message')

/** Hides a handler, as asyncHandler and other wrappers do. */
const hide =
  (handler: RequestHandler): RequestHandler =>
  (req, res, next) =>
    handler(req, res, next)

export async function listenOnExpress({ load, layout, options }: SiteContext): Promise<Listen> {
  if (layout === 'async errors') load('express-async-errors')
  const express = load<typeof import('express')>('express')
  const wrap = layout === 'wrapped' ? hide : (handler: RequestHandler) => handler
  const makeRouter: () => Router | Express =
    layout === 'sub-applications' || layout === 'login apart'
      ? express
      : layout === 'promise router'
        ? load<() => Router>('express-promise-router')
        : express.Router
  return async () => {
    const app: Express = express().use(express.json())
    const guards: Guards<RequestHandler> = (mount) => wrap(loginGuard(options(mount)))
    const below = (prefix: string, make = makeRouter): Router => {
      const router = make()
      app.use(prefix, router)
      return router as Router
    }
    below('/route').post('/login', guards('route'), check)
    below('/all').all('/login', guards('all'), check)
    const prefixed = below('/prefix')
    prefixed.use(guards('prefix'))
    prefixed.post('/login', check).get('/login', accept).post('/forgot', accept)
    const two = guards('two')
    below('/two').post('/login', two, check)
    below('/two', layout === 'login apart' ? express.Router : makeRouter).post('/forgot', two, accept)
    const server = app.listen(0, '::1')
    await new Promise((resolve) => server.once('listening', resolve))
    return (server.address() as AddressInfo).port
  }
}
