/** Sends how many units the charging processes have taken. Argument: the file. */
import { consecutive } from 'headgate'
import { denoKvStore } from 'headgate/deno-kv'
import { remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { openKv } from './open.js'
import { sendLast } from './send-last.js'

const limit = 1_000_000
const kv = await openKv(process.argv[2])
const [remaining = 0] = await remainingOf(denoKvStore(kv), consecutive({ limit }), ['charged'])
kv.close()
sendLast(limit - remaining)
