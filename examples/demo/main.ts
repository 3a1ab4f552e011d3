import { demoApp } from './app.js'
import { giveUp } from './give-up.js'
import { readSettings } from './settings.js'
import { demoStore } from './store.js'

const { port, place } = readSettings(process.env)
const { store, where, close } = await demoStore(place)

const server = demoApp(store).listen(port, (error?: NodeJS.ErrnoException) => {
  if (error) return giveUp(whyNotListening(error))
  const address = server.address()
  const url = `http://localhost:${typeof address === 'object' ? address?.port : port}`
  console.log(`headgate demo: ${url}

Open it in a browser, or use curl to send 25 requests to a route that allows 20:

  curl -s -o /dev/null -w '%{http_code}\\n' '${url}/api/time?[1-25]'

Its limits live ${where}. Ctrl-C stops it.`)
})

process.once('SIGINT', stop)
process.once('SIGTERM', stop)

function stop(): void {
  server.close(close)
  setTimeout(() => server.closeAllConnections(), 500).unref() // browsers open connections in advance
}

function whyNotListening({ code, message }: NodeJS.ErrnoException): string {
  const otherPort = 'Choose another one: PORT=3001 npm start'
  if (code === 'EADDRINUSE') return `Port ${port} is in use. ${otherPort}`
  if (code === 'EACCES') return `Port ${port} requires privileges that this user lacks. ${otherPort}`
  return `The demo cannot listen on port ${port}: ${message}`
}
