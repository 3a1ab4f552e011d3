/** Serves the store in a file to the tests of exactness. Argument: the file. */
import { denoKvStore } from 'headgate/deno-kv'
import { serveStore } from 'headgate/testing'
import { openKv } from './open.js'

const kv = await openKv(process.argv[2])
await serveStore(denoKvStore(kv))
kv.close()
