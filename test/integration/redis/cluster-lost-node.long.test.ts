import { describeLostNode } from './cluster-lost-node.js'

describeLostNode('redis 6')
