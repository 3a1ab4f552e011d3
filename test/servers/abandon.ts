import { startRedis } from './redis.js'

// Starts a server, tells where it is, and never stops it. The argument says how this process ends.
const server = await startRedis({ own: true })
const [, folder] = (await server.cli('CONFIG', 'GET', 'dir')).split('\n')
process.stdout.write(`${JSON.stringify({ port: server.port, folder })}\n`)
if (process.argv[2] === 'leave') process.exit(0)
if (process.argv[2] === 'throw') throw new Error('nobody stops the server')
if (process.argv[2] === 'hang') setInterval(() => {}, 1000)
