import { demoApp } from './app.js'
import { demoStore } from './store.js'

const port = readPort(process.env.PORT || '3000')
const { store, where, close } = demoStore(readRedisUrl(process.env.REDIS_URL))

const server = demoApp(store).listen(port, (error?: NodeJS.ErrnoException) => {
  if (error) return giveUp(whyNotListening(error))
  const address = server.address()
  const url = `http://localhost:${typeof address === 'object' ? address?.port : port}`
  console.log(`headgate demo: ${url}

Open it in a browser, or let curl send 25 requests to a route that lets 20 through:

  curl -s -o /dev/null -w '%{http_code}\\n' '${url}/api/time?[1-25]'

Its limits live ${where}. Ctrl-C stops it.`)
})

process.once('SIGINT', stop)
process.once('SIGTERM', stop)

function stop(): void {
  server.close(close)
  setTimeout(() => server.closeAllConnections(), 500).unref() // browsers hold connections open in advance
}

function readPort(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  return giveUp(
    `PORT must be a whole number from 0 to 65535 (0 = any free port), got ${JSON.stringify(text)}.`,
  )
}

function readRedisUrl(text: string | undefined): string | undefined {
  if (!text) return undefined
  if (/^rediss?:\/\/[^/?]+(\/\d*)?(\?.*)?$/.test(text) && URL.canParse(text)) return text
  return giveUp('REDIS_URL must be an address such as redis://127.0.0.1:6379, or rediss://... for TLS.')
}

function whyNotListening({ code, message }: NodeJS.ErrnoException): string {
  const otherPort = 'Choose another one: PORT=3001 npm start'
  if (code === 'EADDRINUSE') return `Port ${port} is in use. ${otherPort}`
  if (code === 'EACCES') return `Port ${port} needs more rights than this user has. ${otherPort}`
  return `The demo cannot listen on port ${port}: ${message}`
}

function giveUp(message: string): never {
  console.error(message)
  process.exit(1)
}
