const { once } = require('node:events')

/** Sends a server three requests, one after the other, closes it, and returns the statuses. */
exports.statusesOf = async function statusesOf(server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const statuses = []
  while (statuses.length < 3) {
    const response = await fetch(`http://127.0.0.1:${server.address().port}/`)
    await response.arrayBuffer()
    statuses.push(response.status)
  }
  server.close()
  server.closeAllConnections()
  return statuses.join(' ')
}
