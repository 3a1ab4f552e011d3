import { describeLostNode } from './cluster-lost-node.js'

describeLostNode('ioredis 6')
