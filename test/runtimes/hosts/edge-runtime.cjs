// Serves a bundled edge function on a port, in the sandbox of Vercel's edge-runtime.
const { readFileSync } = require('node:fs')
const { createServer } = require('node:http')

const [, , packageFolder, bundle, port] = process.argv
const { EdgeRuntime, createHandler } = require(packageFolder)

const runtime = new EdgeRuntime({ initialCode: readFileSync(bundle, 'utf8') })
const { handler } = createHandler({ runtime })
createServer(handler).listen(Number(port), '127.0.0.1', () => console.log('listening'))
