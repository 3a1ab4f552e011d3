import { CAN_MOUNT } from './full-disk.js'
import { memcached, smallMemcached } from './memcached-scenes.js'
import { cluster, cluster6, redis, redis6, sentinel, sentinel6 } from './redis-scenes.js'
import { mariadb, onSmallDisks, postgres } from './sql-scenes.js'
import type { Scene } from './stage.js'

/** All that is tried. Without root, no disk is filled. */
export const SCENES: readonly Scene[] = [
  redis,
  sentinel,
  cluster,
  redis6,
  sentinel6,
  cluster6,
  memcached,
  smallMemcached,
  mariadb,
  postgres,
  ...(CAN_MOUNT ? onSmallDisks : []),
]
