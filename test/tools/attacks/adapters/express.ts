import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Request, type RequestHandler, type Response } from 'express'
import express4 from 'express4'
import { loginGuard } from 'headgate'
import { guardOptions, loginStatus, type Mount, type Site, type SiteOf } from './login.js'

const guard = (mount: Mount) => loginGuard<Request, Response>(guardOptions(mount))
const check: RequestHandler = ({ body }, res) => void res.sendStatus(loginStatus(body))

async function start(framework: typeof express): Promise<Site> {
  const app = framework().use(express.json())
  app.post('/route/login', guard('route'), check)
  app.use('/prefix', guard('prefix')).post('/prefix/login', check) // Express responds to OPTIONS itself
  app.get('/prefix/login', (_req, res) => void res.send('the form'))
  app.post('/prefix/forgot', (_req, res) => void res.send('see your mail'))
  app.all('/all/login', guard('all'), check)
  return listening(app.listen(0, '::1'))
}

/** Returns the site of a server that has been told to listen. */
export async function listening(server: Server): Promise<Site> {
  if (!server.listening) await once(server, 'listening')
  const close = async () => {
    server.closeAllConnections()
    server.close()
  }
  return { port: (server.address() as AddressInfo).port, close }
}

export const express5Site: SiteOf = { name: 'Express 5', start: () => start(express) }
export const express4Site: SiteOf = {
  name: 'Express 4',
  start: () => start(express4 as unknown as typeof express),
}
