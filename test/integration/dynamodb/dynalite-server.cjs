// Serves DynamoDB's protocol from memory. Argument: the folder that has dynalite. Sends its port.
const { createRequire } = require('node:module')
const { join } = require('node:path')

const dynalite = createRequire(join(process.argv[2], 'package.json'))('dynalite')
const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })
server.keepAliveTimeout = 60_000 // clients reuse connections that were idle
server.listen(0, '127.0.0.1', () => process.send(server.address().port))
process.once('disconnect', () => process.exit())
