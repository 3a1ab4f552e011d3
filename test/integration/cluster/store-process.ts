/** Serves a store to the tests of exactness, whose counts are in the parent or the primary. */
import { clusterStore } from 'headgate/cluster'
import { serveStore } from 'headgate/testing'

const [owner = 'primary'] = process.argv.slice(2)
await serveStore(clusterStore({ owner: owner as 'primary' | 'parent' }))
