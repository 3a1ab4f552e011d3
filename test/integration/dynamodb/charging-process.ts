/** Charges a key again and again. Arguments: the folder of the SDK, the port, the table, the key, the limit. */
import { slidingWindow } from 'headgate'
import { dynamodbStore } from 'headgate/dynamodb'
import { chargeForParent } from '../../support/charging-process.js'
import { openClient } from './open.js'

const [folder = '', port = '', table = '', key = '', limit = ''] = process.argv.slice(2)
const client = openClient(folder, port)
const policy = slidingWindow({ limit: Number(limit), window: '1000d' })
await chargeForParent(dynamodbStore(client, { table }), [{ key, policy, cost: 1 }], 5)
client.destroy()
