// Serves a bundled edge function on a port, in the sandbox of Vercel's edge-runtime.
const { readFileSync } = require('node:fs')
const { createServer } = require('node:http')

const [, , packageFolder, bundle, port] = process.argv
const { EdgeRuntime, createHandler } = require(packageFolder)

const runtime = new EdgeRuntime({ initialCode: readFileSync(bundle, 'utf8') })
const { handler } = createHandler({ runtime })
const server = createServer(handler)
server.keepAliveTimeout = 0 // no connection closes while a request travels to it
server.listen({ port: Number(port), host: '127.0.0.1', backlog: 4096 }, () => console.log('listening'))
