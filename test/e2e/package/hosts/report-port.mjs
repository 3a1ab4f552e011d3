// Preloaded into the server that a test starts: tells the test its port, and closes it when the test disconnects.
// The process has to end by itself then.
import { subscribe } from 'node:diagnostics_channel'

subscribe('tracing:net.server.listen:asyncEnd', ({ server }) => {
  process.once('disconnect', () => {
    server.close()
    server.closeAllConnections()
  })
  process.send(server.address().port)
})
