/** Charges a key again and again, from many callers. Arguments: the URL of the REST API and its token. */
import { fixedWindow } from 'headgate'
import { upstashStore } from 'headgate/upstash'
import { chargeForParent } from '../../support/charging-process.js'

const [url, token] = process.argv.slice(2)
const policy = fixedWindow({ limit: 2 ** 40, window: '1000d' })
await chargeForParent(upstashStore({ url, token }), [{ key: 'key', policy, cost: 1 }], 20)
