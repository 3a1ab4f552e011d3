/** Serves the store to the tests of exactness. Arguments: the folder of the SDK, the port, the table. */
import { dynamodbStore } from 'headgate/dynamodb'
import { serveStore } from 'headgate/testing'
import { openClient } from './open.js'

const [folder = '', port = '', table = ''] = process.argv.slice(2)
const client = openClient(folder, port)
await serveStore(dynamodbStore(client, { table }))
client.destroy()
