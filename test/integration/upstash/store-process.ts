import { serveStore } from 'headgate/testing'
import { upstashStore } from 'headgate/upstash'

// Arguments: the URL of the REST API and its token.
const [url, token] = process.argv.slice(2)

await serveStore(upstashStore({ url, token }))
