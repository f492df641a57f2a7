// kafkajs 2 against three brokers, whose leader is killed (kill -9) and started again in the middle.
//
//   node kafkajs_test.js BROKERS_FOR_SCRIPT
//
// Twice, with acks -1 and with the idempotent producer: a producer sends batches to three partitions, each after the one
// before is acknowledged, while a group of two consumers reads and commits every few records. Once a third is
// acknowledged, the leader is killed with a batch under way; it is started again when another one leads.
//
// Checked of the producer:
//   - no send fails: the client finds the new leader by itself;
//   - every acknowledged record was read at the offset acknowledged for it, with its content; whoever reads an offset
//     twice reads the same twice;
//   - with the idempotent producer, no record stands at two offsets, and those of a partition are in the order sent.
// Checked of the group, for every partition and every time that a member has joined:
//   - the member begins where the group has committed: not below what was confirmed before it joined (nothing committed
//     is processed again), and not above what anybody asked to be committed (nothing is skipped);
//   - from there on it reads every offset, and goes back only to what it has not committed itself;
//   - at the end everything is processed and committed to the end of each partition, as the coordinator says too, and
//     both members have done some of it.
'use strict'

const { spawn } = require('child_process')
const assert = require('assert')
const readline = require('readline')

const SKIPPED = 77
const PARTITIONS = [0, 1, 2]
const SENDS = 150
const RECORDS_PER_SEND = 10
const RECORDS_PER_COMMIT = 25
const PATIENCE_MS = 60000

function loadKafkajs() {
  try {
    return require('kafkajs')
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error
    console.log('skipped: kafkajs is not installed (`tools/dev test` does, with npm and a network)')
    process.exit(SKIPPED)
  }
}
const { Kafka, logLevel } = loadKafkajs()

/** The brokers, through the program that runs them; they end with this process. */
class Brokers {
  constructor(program) {
    this.process = spawn(program, ['"GroupInitialRebalanceDelayMs": 300'], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.lines = readline.createInterface({ input: this.process.stdout })[Symbol.asyncIterator]()
  }
  async line() {
    const { value, done } = await this.lines.next()
    assert(!done, 'the brokers are gone')
    return value
  }
  async start() {
    this.addresses = (await this.line()).split(',')
  }
  async ask(command) {
    this.process.stdin.write(command + '\n')
    return this.line()
  }
  async killAndRestartLeader() {
    const leader = await this.ask('leader')
    assert.notStrictEqual(leader, '0', 'no leader before the kill')
    assert.strictEqual(await this.ask(`kill ${leader}`), 'ok')
    assert.notStrictEqual(await this.ask('leader'), '0', 'no leader after the kill')
    assert.strictEqual(await this.ask(`start ${leader}`), 'ok')
  }
}

async function until(isReached, what) {
  for (const end = Date.now() + PATIENCE_MS; !(await isReached()); ) {
    assert(Date.now() < end, `not within ${PATIENCE_MS / 1000} s: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

/** What the group has read and committed, of all members. */
class Ledger {
  constructor() {
    this.values = PARTITIONS.map(() => []) // by partition and offset
    this.confirmed = PARTITIONS.map(() => 0) // offsets that a member was told are committed
    this.asked = PARTITIONS.map(() => 0) // the highest that any member has asked to be committed
  }
  read(partition, offset, value) {
    const before = this.values[partition][offset]
    assert(before === undefined || before === value, `partition ${partition} offset ${offset} was '${before}', is '${value}'`)
    this.values[partition][offset] = value
  }
}

/** One of the group's consumers. */
class Member {
  constructor(kafka, group, ledger, onFailure) {
    this.ledger = ledger
    this.onFailure = onFailure
    this.count = 0
    this.partitions = []
    this.rows = null // by partition, since the member has joined: the lowest offset that it may read, and the next
    this.consumer = kafka.consumer({
      groupId: group,
      sessionTimeout: 10000,
      rebalanceTimeout: 10000,
      heartbeatInterval: 200,
      maxWaitTimeInMs: 200,
      retry: { initialRetryTime: 50, maxRetryTime: 500, retries: 100 },
    })
    this.consumer.on(this.consumer.events.GROUP_JOIN, ({ payload }) => {
      this.partitions = Object.values(payload.memberAssignment).flat()
      this.rows = ledger.confirmed.map(confirmed => ({ lowest: confirmed, next: null }))
    })
  }
  async start(topic) {
    await this.consumer.connect()
    await this.consumer.subscribe({ topics: [topic], fromBeginning: true })
    await this.consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: payload => this.processBatch(payload),
    })
  }
  async processBatch({ batch, resolveOffset, heartbeat, commitOffsetsIfNecessary, isRunning, isStale }) {
    const { topic, partition } = batch
    const row = this.rows[partition] // of the generation in which the batch was fetched
    for (let at = 0; at < batch.messages.length && isRunning() && !isStale(); at += RECORDS_PER_COMMIT) {
      const messages = batch.messages.slice(at, at + RECORDS_PER_COMMIT)
      try {
        for (const message of messages) this.process(partition, row, message)
      } catch (error) {
        this.onFailure(error)
      }
      const offset = row.next
      this.ledger.asked[partition] = Math.max(this.ledger.asked[partition], offset)
      await commitOffsetsIfNecessary({ topics: [{ topic, partitions: [{ partition, offset: String(offset) }] }] })
      this.ledger.confirmed[partition] = Math.max(this.ledger.confirmed[partition], offset)
      row.lowest = offset
      resolveOffset(messages[messages.length - 1].offset)
      await heartbeat()
    }
  }
  process(partition, row, message) {
    const offset = Number(message.offset)
    const highest = row.next === null ? this.ledger.asked[partition] : row.next
    const where = `partition ${partition} offset ${offset}`
    assert(offset >= row.lowest, `${where} is read again: ${row.lowest} was committed`)
    assert(offset <= highest, `${where} is read, and nobody has read ${highest}`)
    this.ledger.read(partition, offset, String(message.value))
    row.next = offset + 1
    ++this.count
  }
}

function valuesOf(send) {
  return Array.from({ length: RECORDS_PER_SEND }, (_, i) => `record ${send * RECORDS_PER_SEND + i}`)
}

/** Sends everything; what was acknowledged, as [partition, offset, value]. */
async function produce(producer, topic, brokers) {
  const acknowledged = []
  let kill = null
  for (let send = 0; send < SENDS; ++send) {
    const partition = PARTITIONS[send % PARTITIONS.length]
    const values = valuesOf(send)
    const sent = producer.send({ topic, acks: -1, messages: values.map(value => ({ partition, value })) })
    if (send === SENDS / 3) kill = brokers.killAndRestartLeader()
    const [result] = await sent
    assert.strictEqual(result.errorCode, 0)
    values.forEach((value, i) => acknowledged.push([partition, Number(result.baseOffset) + i, value]))
  }
  await kill
  return acknowledged
}

async function checkRun(kafka, brokers, topic, producerSettings) {
  const group = `group-${topic}`
  const admin = kafka.admin()
  const producer = kafka.producer(producerSettings)
  await Promise.all([admin.connect(), producer.connect()])
  await admin.createTopics({ topics: [{ topic, numPartitions: PARTITIONS.length, replicationFactor: 3 }] })

  const ledger = new Ledger()
  let failure = null
  const members = [1, 2].map(() => new Member(kafka, group, ledger, error => (failure = failure || error)))
  await Promise.all(members.map(member => member.start(topic)))
  await until(() => members.every(member => member.partitions.length > 0), 'both members have partitions')

  const acknowledged = await produce(producer, topic, brokers)
  const ends = PARTITIONS.map(() => 0)
  for (const { partition, high } of await admin.fetchTopicOffsets(topic)) ends[partition] = Number(high)
  await until(() => failure || PARTITIONS.every(p => ledger.confirmed[p] >= ends[p]), 'all is processed and committed')
  if (failure) throw failure

  assert.strictEqual(acknowledged.length, SENDS * RECORDS_PER_SEND)
  for (const [partition, offset, value] of acknowledged)
    assert.strictEqual(ledger.values[partition][offset], value, `partition ${partition} offset ${offset}`)
  for (const p of PARTITIONS) assert.strictEqual(Object.keys(ledger.values[p]).length, ends[p], `partition ${p} has gaps`)
  if (producerSettings.idempotent)
    for (const p of PARTITIONS)
      assert.deepStrictEqual(ledger.values[p], acknowledged.filter(([at]) => at === p).map(([, , value]) => value))
  const [committed] = await admin.fetchOffsets({ groupId: group, topics: [topic] })
  for (const { partition, offset } of committed.partitions) assert.strictEqual(Number(offset), ends[partition])
  for (const member of members) assert(member.count > 0, 'one member has done nothing')

  const readAgain = members[0].count + members[1].count - ends.reduce((sum, end) => sum + end, 0)
  console.log(`${topic}: ${acknowledged.length} acknowledged, ${ends.join(' + ')} stand, ${readAgain} read again`)
  await Promise.all([...members.map(member => member.consumer.disconnect()), producer.disconnect(), admin.disconnect()])
}

async function main() {
  const brokers = new Brokers(process.argv[2])
  await brokers.start()
  const kafka = new Kafka({
    clientId: 'kafkajs-test',
    brokers: brokers.addresses,
    logLevel: logLevel.ERROR,
    connectionTimeout: 3000,
    retry: { initialRetryTime: 50, maxRetryTime: 500, retries: 100 },
  })
  try {
    await checkRun(kafka, brokers, 'acks-all', {})
    await checkRun(kafka, brokers, 'idempotent', { idempotent: true })
  } catch (error) {
    await brokers.ask('logs')
    throw error
  }
}

main().then(
  () => process.exit(0),
  error => {
    console.error(error)
    process.exit(1)
  }
)
