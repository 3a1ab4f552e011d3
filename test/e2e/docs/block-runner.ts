/** Runs code blocks in its process: imports each file, requests the paths of its servers, reports errors. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, Server as HttpServer } from 'node:http'
import { type AddressInfo, Server } from 'node:net'
import { pathToFileURL } from 'node:url'
import { apps } from './fixtures.js'

const servers = new Set<Server>()
let errors: string[] = []

const listen = Server.prototype.listen
Server.prototype.listen = function listenOnFreePort(this: Server, ...args: unknown[]) {
  servers.add(this)
  this.once('close', () => servers.delete(this))
  const callback = args.find((arg) => typeof arg === 'function') as (() => void) | undefined
  return Reflect.apply(listen, this, [0, callback]) // without a host, since supertest wants the port at once
}

process.on('uncaughtException', recordError)
process.on('unhandledRejection', recordError)

function recordError(error: unknown): void {
  errors.push(error instanceof Error ? `${error.stack}` : String(error))
}

async function runFile(file: string): Promise<void> {
  await import(pathToFileURL(file).href)
  for (const app of apps.splice(0)) createServer(app).listen()
  const paths = [...readFileSync(file, 'utf8').matchAll(/['"`](\/[\w/:.-]*)['"`]/g)].map(
    (match) => match[1] ?? '/',
  )
  for (const server of servers) {
    if (!server.listening) await once(server, 'listening')
    if (server instanceof HttpServer) await requestAll(server, new Set(['/', ...paths]))
  }
}

async function requestAll(server: HttpServer, paths: Iterable<string>): Promise<void> {
  const { port } = server.address() as AddressInfo
  const form = new URLSearchParams({ username: 'ada', password: 'wrong' })
  for (const path of paths) {
    for (const request of [{ method: 'GET' }, { method: 'POST', body: form }]) {
      const signal = AbortSignal.timeout(5000)
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        ...request,
        signal,
        redirect: 'manual',
      })
      const body = await response.text()
      if (response.status === 500) errors.push(`${request.method} ${path} was answered 500: ${body}`)
    }
  }
}

function closeAll(): void {
  for (const server of servers) {
    server.close()
    if (server instanceof HttpServer) server.closeAllConnections()
  }
  servers.clear()
}

for (const file of process.argv.slice(2)) {
  errors = []
  await runFile(file).catch(recordError)
  await new Promise((resolve) => setImmediate(resolve)) // unhandled rejections arrive by then
  closeAll()
  process.send?.({ file, errors })
}
process.disconnect()
process.exit()
