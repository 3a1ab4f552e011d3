/** A worker that charges a key again and again, from many callers. */
import { consecutive } from 'headgate'
import { clusterStore } from 'headgate/cluster'
import { chargeForParent } from '../../support/charging-process.js'

const parts = [{ key: 'charged', policy: consecutive({ limit: 1_000_000 }), cost: 1 }]
await chargeForParent(clusterStore(), parts, 20)
