// 한국어. The keys are those of en.ts.
import type { en } from './en';

export const ko: Record<keyof typeof en, string> = {
  'skip': '본문으로', 'model': '모델', 'language': '언어', 'theme.dark': '어두운 화면', 'theme.light': '밝은 화면',
  'rooms': '방', 'map': '모델 지도', 'map.hint': '부분을 가리키면 그 수식과 모양과 매개변수 수를 보여 줍니다.', 'map.ladder': '첫 토큰부터 위로 이어지는 인코더와 디코더의 상태', 'inspector': '현미경', 'position': '위치', 'dimension': '차원', 'layer': '블록', 'head': '헤드', 'stack': '스택',
  'waiting': '계산하고 있습니다 …', 'again': '다시 시도', 'stop': '멈춤', 'show': '보기', 'save': '저장', 'copy': '복사', 'copied': '복사했습니다', 'command': '같은 결과를 주는 명령', 'change': '바꾸어 보기',
  'before': '개입 전', 'after': '개입 후', 'difference': '차이', 'compare': '개입 전과 후', 'legend.masked': '마스크됨',
  'inspector.empty': '숫자를 가리키면 어디에서 왔는지 보여 줍니다. 누르면 고정됩니다.',

  'room.text': '텍스트', 'room.embedding': '임베딩과 위치', 'room.attention': '어텐션', 'room.feedforward': '순방향 신경망', 'room.residual': '잔차 흐름', 'room.output': '출력', 'room.parameters': '매개변수', 'room.training': '학습', 'room.laboratory': '실험실',
  'intro.text': '모델은 글자가 아니라 토큰(token)을 읽습니다. 토큰은 정해진 어휘에서 고른 글 조각이며 저마다 번호가 있습니다. 위에 문장을 입력하고 어떻게 나뉘는지 보십시오.',
  'intro.embedding': '토큰의 번호는 표의 한 행, 곧 모델이 학습한 임베딩(embedding) 벡터를 고릅니다. 토큰이 문장의 어디에 있는지는 또 다른 벡터를 더하거나 어텐션 안에서 회전시켜 알려 줍니다.',
  'intro.attention': '각 토큰은 쿼리(query)로 다른 토큰의 키(key)에 묻고, 그 값(value)의 가중 평균을 가져옵니다. 여러 헤드(head)가 나란히, 저마다 다르게 이 일을 합니다.',
  'intro.feedforward': '순방향 신경망(feed-forward network)은 위치마다 따로, 토큰의 벡터에 많은 질문을 던지고 활성화된 질문의 답을 더합니다. 모델이 아는 것의 많은 부분이 여기에 저장됩니다.',
  'intro.residual': '토큰마다 벡터 하나가 모델 전체를 지나가고, 모든 부분은 거기에 더하기만 합니다(잔차 연결). 그래서 어느 높이에서든 읽을 수 있습니다. 여기서 멈춘다면 모델은 무엇이라고 할까요?',
  'intro.attention.recurrent': '디코더의 상태를 인코더의 모든 상태와 견주어 그 가중 평균을 가져옵니다. 그래서 문장 전체를 벡터 하나에 담아 나르지 않아도 됩니다.',
  'intro.feedforward.recurrent': '순환 모델에는 순방향 신경망 대신 게이트(gate)가 있습니다. 토큰마다 상태에서 무엇을 남기고 무엇을 덮어쓸지 정합니다.',
  'intro.residual.recurrent': '순환 모델에는 잔차 흐름이 없습니다. 상태 하나가 토큰에서 토큰으로 이어지며 일부가 덮어쓰입니다. 그래도 토큰마다 읽을 수 있습니다. 여기서 모델은 무엇이라고 할까요?',
  'intro.output': '마지막 벡터는 어휘의 토큰마다 점수(로짓, logit) 하나가 되고, 소프트맥스(softmax)가 이를 확률로 바꿉니다. 그 확률에서 다음 토큰을 어떻게 고를지는 여러분이 정합니다.',
  'intro.parameters': '모델이 배운 것은 모두 이 숫자들에 들어 있습니다. 어디에 얼마나 있고 어떤 모습인지 보여 줍니다.',
  'intro.training': '학습은 손실(loss), 곧 실제로 이어지는 토큰을 보고 놀라는 정도를 줄이는 일입니다. 진행 중이든 끝난 뒤든 볼 수 있습니다.',
  'intro.laboratory': '트랜스포머에 관한 주장을 실험으로 실행하고, 미리 정한 기준으로 판정합니다. 보는 동안 학습되는 작은 모델도 있습니다.',

  'stack.encoder': '인코더', 'stack.decoder': '디코더', 'side.source': '원문', 'side.target': '번역문', 'side.tokens': '토큰',
  'bars.before': '이전: {value}', 'part.embedding': '임베딩', 'part.position': '위치', 'part.segment': '구간', 'part.norm': '정규화', 'part.self_attention': '셀프 어텐션', 'part.masked_attention': '마스크드 셀프 어텐션', 'part.cross_attention': '크로스 어텐션',
  'part.feed_forward': '순방향 신경망', 'part.recurrent': '순환 셀', 'part.alignment': '가산 어텐션', 'part.pooler': '풀러', 'part.output': '출력', 'part.bridge': '브리지', 'part.other': '그 밖', 'part.block': '블록 {layer}',

  'short.self_attention': '셀프', 'short.masked_attention': '마스크드', 'short.cross_attention': '크로스', 'short.feed_forward': 'FFN', 'short.alignment': '가산', 'short.recurrent': '순환 셀',

  'text.input': '모델이 읽을 문장', 'text.run': '읽기', 'text.token': '토큰', 'text.piece': '조각', 'text.bytes': '바이트', 'text.target': '번역문',
  'text.bymodel': '모델이 쓴 것', 'text.byyou': '직접 쓴 것', 'text.question': '{side}: 모델은 무엇을 읽습니까?',
  'text.prose': '{letters}글자가 {tokens}개의 토큰이 됩니다. 어휘는 {vocab}개이고, 모델은 한 번에 {limit}개까지 읽습니다.',
  'text.prose.nolimit': '{letters}글자가 {tokens}개의 토큰이 됩니다. 어휘는 {vocab}개이고, 모델은 몇 개든 차례로 읽습니다.', 'text.special': '특수 토큰입니다. 시작, 끝, 빈칸을 표시하며 글의 일부가 아닙니다.', 'text.row': '임베딩 표 {v}행 가운데 {id}행: 숫자 {d}개입니다.',

  'embedding.rows': '합', 'embedding.near': '이웃', 'embedding.products': '내적', 'embedding.map': '지도', 'embedding.positions': '위치',
  'embedding.token': '토큰 벡터', 'embedding.position': '위치 벡터', 'embedding.sum': '합: 첫 블록이 읽는 것',
  'embedding.rotary': '이 모델은 위치 벡터를 더하지 않습니다. 위치는 어텐션 안에서 쿼리와 키를 회전시키는 것으로 작용합니다.', 'embedding.recurrent': '순환 모델은 토큰을 차례로 읽으므로 위치 벡터가 필요 없습니다.', 'embedding.nopositions': '이 모델에는 위치 인코딩이 없습니다.',
  'embedding.near.prose': '모든 토큰 가운데 “{token}”에 가장 가까운 것은 “{nearest}”입니다: {value}.', 'embedding.near.question': '“{token}”의 벡터와 비슷한 토큰은 무엇입니까?', 'embedding.near.note': '위에서 다른 토큰을 고르면 그 이웃을 봅니다. 비슷하게 쓰이는 토큰의 벡터는 비슷한 방향을 가리킵니다.',
  'embedding.products.question': '어떤 단어들이 같은 방향을 가리킵니까?', 'embedding.products.note': '양수는 비슷함, 0은 무관함, 음수는 반대를 뜻합니다.', 'embedding.map.question': '이 단어들은 서로 어떻게 놓여 있습니까?', 'embedding.map.note': '이 벡터들이 가장 크게 달라지는 두 방향(주성분)입니다. 흐린 단어는 진한 단어의 가장 가까운 이웃입니다.', 'embedding.positions.note': '느린 파동은 먼 위치를, 빠른 파동은 가까운 위치를 구별합니다. 둘이 함께 위치를 나타냅니다.',
  'embedding.positions.question': '위치마다 무엇이 더해집니까?', 'embedding.planes.question': '위치 {position}에서 쿼리와 키는 얼마나 회전합니까? 빠른 평면부터 느린 평면까지', 'embedding.angles.question': '차원 쌍마다 몇 도나 회전합니까?', 'embedding.distance.question': '위치 0과 위치 k는 얼마나 비슷합니까?',
  'embedding.plane': '차원 쌍', 'embedding.axes': '제1, 제2 주성분: 분산의 {a}와 {b}', 'embedding.similarity': '유사도', 'embedding.length': '길이 {value}', 'embedding.dot': '내적', 'embedding.cosine': '코사인', 'embedding.words': '단어',

  'attention.none': '이 모델에는 어텐션이 없습니다. 인코더의 마지막 상태 하나가 문장 전체를 나릅니다. 어텐션이 있는 모델과 비교해 보십시오.', 'attention.kind': '어텐션의 종류', 'attention.grid': '헤드들은 무엇을 봅니까?', 'attention.head': '블록 {layer}, 헤드 {head}', 'attention.known': '하는 일에 따른 헤드', 'attention.sort': '정렬', 'attention.byplace': '블록 × 헤드', 'attention.steps': '단계별로', 'attention.view': '보기',
  'attention.matrix': '행렬', 'attention.lines': '선', 'attention.words': '단어', 'attention.looks': '보는 토큰', 'attention.lookedat': '보이는 토큰',
  'attention.row': '{query} 행의 소프트맥스', 'attention.prose': '헤드 {head}에서 “{query}”의 어텐션 가운데 {share}가 “{key}”에 놓입니다.',
  'head.induction': '귀납 헤드', 'head.previous': '바로 앞 토큰을 봄', 'head.first': '첫 토큰에 머묾', 'head.sharp': '한곳을 뚜렷이 봄',
  'head.statistic.entropy': '엔트로피(비트)', 'head.statistic.previous': '앞 토큰', 'head.statistic.first': '첫 토큰', 'head.statistic.distance': '평균 거리', 'head.statistic.induction': '귀납 점수',
  'step.qk': 'Q, K', 'step.product': 'QKᵀ', 'step.scores': '스케일링', 'step.masked': '마스크', 'step.pattern': '소프트맥스', 'step.values': '× V', 'step.out': '출력',
  'step.q.question': 'Q: 각 토큰은 무엇을 묻습니까?', 'step.k.question': 'K: 각 토큰은 무엇을 내놓습니까?', 'step.product.question': '각 쿼리는 각 키와 얼마나 맞습니까?', 'step.scores.question': '소프트맥스가 지나치게 뾰족해지지 않도록 나눈 값', 'step.masked.question': '각 토큰이 보아서는 안 되는 것은 무엇입니까?', 'step.pattern.question': '각 토큰은 어디를 봅니까?', 'step.v.question': 'V: 각 토큰에서 무엇을 가져올 수 있습니까?', 'step.z.question': '각 토큰은 무엇을 가져왔습니까?', 'step.out.question': '이 헤드는 잔차 흐름에 무엇을 더합니까?',

  'feedforward.position': '한 토큰에서', 'feedforward.text': '문장 전체', 'feedforward.pre': '상향 투영', 'feedforward.gate': '게이트', 'feedforward.post': '활성화', 'feedforward.ffn_out': '하향 투영', 'feedforward.neurons': '뉴런', 'feedforward.activation': '활성화 {value}', 'feedforward.title': '블록 {layer}의 순방향 신경망',
  'feedforward.neuron': '블록 {layer}, 뉴런 {neuron}', 'feedforward.note': '상향 투영(up-projection)의 한 행은 토큰에 던지는 질문이고, 하향 투영(down-projection)의 한 열은 그 질문이 활성화될 때 더해지는 답입니다.',
  'feedforward.prose': '“{token}”에서 뉴런 {all}개 가운데 {active}개가 활성화됩니다. 가장 많이 쓰는 것은 {neuron}번 뉴런으로, “{word}” 쪽으로 밉니다.', 'feedforward.question': '“{token}”에서 가장 많이 쓰는 뉴런은 무엇입니까? (더하는 벡터의 길이)', 'feedforward.text.question': '어떤 뉴런이 어디에서 활성화됩니까?', 'feedforward.strongest': '“{token}”에서 가장 강한 뉴런: {neurons}.',
  'feedforward.choose': '뉴런을 고르면 질문과 답을 읽고, 세기를 바꾸거나 끌 수 있습니다.', 'feedforward.asks': '묻는 것(입력 방향)', 'feedforward.writes': '쓰는 것(출력 방향)', 'feedforward.against': '억누르는 것', 'feedforward.scale': '이 뉴런의 세기', 'feedforward.search': '이 뉴런을 활성화하는 글 찾기', 'feedforward.fires': '토큰의 {share}에서 활성화되며, 가장 강한 곳은:',
  'feedforward.questionlength': '질문의 길이', 'feedforward.answerlength': '답의 길이', 'feedforward.none': '이 블록들에는 순방향 신경망이 없습니다.', 'feedforward.gates': '토큰마다 게이트는 얼마나 열립니까?', 'feedforward.state': '어떤 상태가 이어집니까?',

  'residual.lens': '로짓 렌즈', 'residual.attribution': '기여도', 'residual.trace': '인과 추적', 'residual.watch': '지켜볼 토큰', 'residual.against': '비교할 토큰', 'residual.read': '읽는 것',
  'residual.prose': '“{token}” 다음에 모델은 “{answer}”라고 합니다({share}). 잔차 흐름이 처음으로 그렇게 말하는 곳은 {layer}입니다.', 'residual.lens.question': '이 높이에서 멈춘다면 모델은 무엇이라고 합니까?', 'residual.lens.change.question': '개입은 “{token}”의 확률을 어떻게 바꿉니까?', 'residual.lens.note': '이 자리의 잔차 흐름을 마지막 정규화와 출력층에 통과시킨 결과입니다.', 'residual.entropy': '엔트로피', 'residual.watched': '지켜보는 토큰: {token}', 'residual.rank': '{rank}위',
  'residual.place.prose': '“{token}” 자리에 모델이 넣을 토큰은 “{answer}”입니다({share}). 잔차 흐름이 처음으로 그렇게 말하는 곳은 {layer}입니다.', 'residual.attribution.place.prose': '“{position}” 자리에서 “{token}”의 로짓은 {logit}입니다. 모든 부분의 합은 {sum}이고, 반올림으로 남는 나머지는 {remainder}입니다.', 'residual.attribution.changed.prose': '“{position}”에서 “{token}”의 로짓은 {logit}입니다. 모든 부분의 합은 {sum}이고, 나머지 {remainder}는 개입이 직접 넣은 것입니다.', 'residual.attribution.prose': '“{position}” 다음에 올 “{token}”의 로짓은 {logit}입니다. 모든 부분의 합은 {sum}이고, 반올림으로 남는 나머지는 {remainder}입니다.', 'residual.attribution.question': '어떤 부분이 “{token}” 쪽으로 밀고, 어떤 부분이 막습니까?', 'residual.attribution.note': '정규화의 배율을 이번 실행의 값으로 고정하면 각 부분이 쓴 것이 로짓까지 선형으로 이어지므로 모두 더하면 로짓이 됩니다.', 'residual.rest': '그 밖의 {n}개', 'residual.logit': '“{token}”의 로짓', 'residual.sum': '부분들의 합', 'residual.logit.run': '실행의 로짓', 'residual.remainder': '나머지',
  'residual.subject': '흐리게 할 주어', 'residual.start': '추적', 'residual.patch': '고른 토큰을 다른 글의 값으로 바꾸기', 'residual.trace.prose': '답 “{answer}”의 확률은 {clean}이고, 주어를 알아볼 수 없게 하면 {corrupted}입니다.', 'residual.trace.note': '주어의 임베딩에 잡음을 넣은 뒤 벡터를 하나씩 원래대로 되돌립니다. 답이 돌아오는 곳으로 사실이 지나갑니다.', 'residual.trace.begin': '답을 좌우하는 단어를 글에 있는 그대로 적고 추적을 시작하십시오.', 'residual.clean': '원래', 'residual.corrupted': '잡음 뒤',
  'trace.resid_post': '잔차 흐름을 되돌림', 'trace.attn_out': '어텐션을 되돌림', 'trace.self_attn_out': '셀프 어텐션을 되돌림', 'trace.cross_attn_out': '크로스 어텐션을 되돌림', 'trace.ffn_out': '순방향 신경망을 되돌림', 'trace.h': '상태를 되돌림',

  'output.distribution': '확률 분포', 'output.steps': '한 단계씩', 'output.beam': '빔 탐색', 'output.prose': '“{token}” 다음: “{answer}”, {share}. 어휘 {vocab}개 가운데 {kept}개가 뽑힐 수 있습니다.', 'output.place.prose': '“{token}” 자리에 모델이 넣을 토큰: “{answer}”, {share}.', 'output.place.question': '“{token}” 자리에는 무엇이 있습니까?', 'output.question': '“{token}” 다음에 무엇이 옵니까?', 'output.class.prose': '모델은 이 글을 “{answer}”(으)로 봅니다({share}).', 'output.class.question': '이 글에 맞는 분류는 무엇입니까?',
  'output.temperature': '온도', 'output.topk': 'Top-k', 'output.topp': 'Top-p', 'output.minp': 'Min-p', 'output.all': '모두', 'output.reset': '처음 값으로', 'output.logit': '로짓 z', 'output.raw': '확률(T = 1)', 'output.adjusted': '지금의 확률', 'output.outline.raw': '점선: 온도 1에서 모델이 말하는 그대로.', 'output.outline.before': '점선: 개입이 없을 때.',
  'output.steps.question': '다음에는 어떤 토큰이 오고, 다른 토큰이라면 어떻게 됩니까?', 'output.next': '가장 그럴듯한 것 고르기', 'output.undo': '하나 되돌리기', 'output.restart': '처음부터', 'output.step': '{step}단계', 'output.steps.note': '아무 토큰이나 골라 이어 갈 수 있습니다. 왼쪽 단계에서 다른 토큰을 고르면 거기서 갈라집니다.', 'output.beam.question': '단계마다 어떤 {n}개의 앞부분이 남았습니까?', 'output.beam.note': '초록색이 이긴 문장입니다. 앞부분의 점수는 로그 확률의 합을 길이의 거듭제곱으로 나눈 것입니다.', 'output.beamsize': '빔 크기', 'output.penalty': '길이 벌점', 'output.dropped': '버려진 후보도 보기', 'output.score': '점수',
  'beam.kept': '남음', 'beam.dropped': '버려짐', 'beam.finished': '끝남', 'beam.open': '진행 중',

  'parameters': '매개변수', 'parameters.where': '어디에 있는가', 'parameters.tensor': '텐서 하나', 'parameters.count': '매개변수 {n}개', 'parameters.shared': '인코더와 같은 표를 씁니다', 'parameters.tied': '임베딩과 숫자를 함께 씁니다', 'parameters.total': '전체', 'parameters.part': '부분', 'parameters.share': '비율', 'parameters.width': '너비 d', 'parameters.vocab': '어휘', 'parameters.stack': '블록 {layers}개, 헤드 {heads}개', 'parameters.cells': '셀 {layers}개', 'parameters.recurrent.prose': '매개변수 {total}개 가운데 {cells}가 순환 셀에 있습니다.', 'parameters.question': '어느 부분에 몇 개가 있습니까?', 'parameters.note': '칸을 누르면 그 숫자들을 봅니다.',
  'parameters.prose': '매개변수 {total}개 가운데 {ffn}가 순방향 신경망에 있습니다. 블록 안에서만 보면 {blocks}입니다.', 'parameters.choose': '텐서', 'parameters.tensor.question': '{name}의 숫자들은 어떤 모습입니까?', 'parameters.histogram': '어떻게 흩어져 있습니까?', 'parameters.shape': '모양', 'parameters.type': '자료형', 'parameters.mean': '평균', 'parameters.deviation': '표준 편차', 'parameters.reduced': '그림보다 큰 텐서입니다. 칸마다 그 안에서 크기가 가장 큰 숫자를 보여 줍니다.', 'parameters.rows': '행', 'parameters.columns': '열',

  'training.run': '실행', 'training.curves': '곡선', 'training.samples': '예문', 'training.recorded': '시간에 따라', 'training.recipe': '레시피', 'training.live': '진행 중', 'training.none': '보여 줄 학습 실행이 없습니다. “limpid train RECIPE --watch”로 시작하거나 실행 폴더를 서버에 주십시오.', 'training.nosamples': '아직 예문이 없습니다. 첫 검증 때 나옵니다.', 'training.neversamples': '예문은 검증 문장을 번역한 것인데, 이 실행은 번역을 배우지 않습니다. 무엇을 배웠는지는 “시간에 따라”에서 볼 수 있습니다.', 'training.samples.question': '모델은 이제 무엇을 씁니까?', 'training.smoothing': '부드럽게', 'training.loss': '손실', 'training.validation': '검증', 'training.loss.question': '모델은 얼마나 놀랍니까? (손실)', 'training.bleu': 'BLEU', 'training.chrf': 'chrF', 'training.exact': '정확히 맞은 비율', 'training.accuracy': '정확도', 'training.rate': '학습률', 'training.gradient': '기울기 노름', 'training.speed': '초당 토큰', 'training.left': '남은 시간', 'training.step': '단계', 'training.state': '상태',
  'training.state.running': '진행 중', 'training.state.finished': '끝남', 'training.state.stopped': '멈춤', 'training.state.empty': '시작 전', 'training.note': '아무것도 모르는 모델의 손실은 어휘 크기의 로그입니다.', 'training.reference': '정답', 'training.written': '모델이 쓴 것', 'training.time': '시간', 'training.atstep': '{step}단계', 'training.recorded.attention': '이 헤드는 어디를 볼지 어떻게 배웠습니까?', 'training.recorded.lens': '맞는 토큰은 언제 그럴듯해졌습니까?',

  'laboratory.question': '무엇이라고들 하며, 그것은 성립합니까?', 'laboratory.claims': '주장', 'laboratory.claim': '주장', 'laboratory.verdict': '판정', 'laboratory.notrun': '실행 전', 'laboratory.provisional': '잠정', 'laboratory.none': '제공되는 결과가 없습니다. “limpid experiment all --quick”을 실행하고 그 폴더를 “--experiments”로 지정하십시오.',
  'laboratory.number': '수치', 'laboratory.must': '기준', 'laboratory.measured': '측정값 (시드 간 범위)', 'laboratory.passes': '통과', 'laboratory.contrary': '반대 실험', 'laboratory.main': '주된 부분', 'laboratory.baseline': '기준 모델', 'laboratory.method': '방법', 'laboratory.reported': '다른 곳의 보고', 'laboratory.origin': '출처', 'laboratory.time': '측정 시간', 'laboratory.note': '모든 시드에서 모든 부분이 통과하면 주장이 성립합니다. 반대 실험에서는 그 장치를 끄므로 주된 부분이 통과하지 못해야 합니다.',
  'laboratory.superposition': '중첩', 'laboratory.density': '특징이 나타나는 비율', 'laboratory.features': '특징', 'laboratory.represented': '표현된 특징', 'laboratory.shape': '모양', 'laboratory.angles': '각', 'laboratory.superposition.question': '모델은 2차원에서 특징을 어디에 둡니까?', 'laboratory.superposition.says': '방금 서버에서 학습했습니다. 특징 {features}개 가운데 {represented}개가 자기 방향을 얻었습니다. 드물수록 더 많은 특징이 두 차원을 나누어 씁니다.', 'laboratory.superposition.note': 'x′ = ReLU(WᵀWx + b): 특징을 2차원에 눌러 담고 다시 읽습니다. 화살표는 W의 열이며, 특징 i의 중요도는 0.9의 i제곱입니다.', 'laboratory.superposition.picture': '특징 {features}개 가운데 {represented}개 표현됨, 모양: {shape}',
  'shape.orthogonal pair': '직교하는 한 쌍', 'shape.antipodal pair': '마주 보는 한 쌍', 'shape.triangle': '삼각형', 'shape.antipodal pair and one across': '마주 보는 한 쌍과 직교하는 하나', 'shape.two antipodal pairs': '마주 보는 두 쌍', 'shape.pentagon': '오각형', 'shape.hexagon': '육각형', 'shape.': '–',
  'laboratory.induction': '귀납 헤드', 'laboratory.facts': '사실', 'laboratory.sae': '희소 특징',
  'induction.layers': '어텐션 층', 'induction.start': '학습', 'induction.begin': '어텐션만으로 된 작은 모델이 서버에서 몇 초 동안 무작위 글자를 되풀이하는 법을 배웁니다. 헤드가 지난번에 뒤따른 글자를 찾아내는 과정을 보십시오. 층이 하나면 어느 헤드도 하지 못합니다.', 'induction.says': '{step}단계 뒤 헤드 {head}은(는) 어텐션의 {share}로 같은 글자에 처음 뒤따른 글자를 봅니다. 손실은 새 글자에서 글자당 {first} nat, 되풀이되는 글자에서 {second} nat입니다.', 'induction.question': '어느 헤드가 언제부터 지난번에 뒤따른 것을 봅니까?', 'induction.heads': '층과 헤드', 'induction.loss': '모델은 글자에 얼마나 놀랍니까? (nat)', 'induction.first': '새 글자', 'induction.second': '되풀이되는 글자', 'induction.best': '가장 높은 헤드', 'induction.note': '귀납 헤드에는 층이 둘 필요합니다. 한 층은 각 글자에 그 앞의 글자를 옮겨 적고, 다음 층은 지금 읽는 글자를 찾습니다. 새 글자는 끝까지 우연입니다.',
  'study.step': '{step}단계, 손실 {loss}', 'study.features': '특징, 오차 {error}', 'study.training': '학습', 'study.waiting for another study': '다른 실험을 기다림', 'study.reading texts': '글 읽기', 'study.recall': '아는 사실 세기', 'study.tracing': '추적', 'study.neurons': '뉴런', 'study.silencing neurons': '뉴런 끄기', 'study.keys of all facts': '모든 사실의 키', 'study.rewriting facts': '다시 쓰기',
  'facts.fact': '사실', 'facts.to': '다시 쓸 답', 'facts.start': '찾아서 다시 쓰기', 'facts.block': '블록', 'facts.neuron': '뉴런', 'facts.worth': '여기서의 몫, nat', 'facts.elsewhere': '다른 곳에서의 몫', 'facts.promotes': '높이는 토큰', 'facts.begin': '작은 모델이 서버에서 약 1,300개의 사실을 배웁니다. 처음에는 30초쯤 걸립니다. 그런 다음 사실을 하나 고르면 그 자리를 찾고, 뉴런을 끄고, 다시 씁니다.', 'facts.says': '{subject}: “{object}”의 확률은 {clean}이고, 이름을 알아볼 수 없게 하면 {corrupted}입니다. 지도는 벡터 하나를 원래 값으로 되돌렸을 때 답이 얼마나 돌아오는지 보여 줍니다.', 'facts.neurons.question': '어느 뉴런이 없으면 사실을 잃습니까?', 'facts.silencing': '뉴런 {n}개를 끄면 표현 {ways}개 가운데 {lost}개에서 사실을 잃고 (확률 {before} → {after}), 다른 사실은 {kept}가 그대로 남습니다.', 'facts.rewriting': '하향 투영 하나의 열 {columns}개를 {change} 바꾸어 “{before}”을(를) “{after}”(으)로 다시 썼습니다. 학습한 표현 {ways}, 학습하지 않은 표현 {heldout}에서 새 답을 말하고, 다른 답은 {others}가 전과 같습니다.', 'facts.known': '아는 사실', 'facts.silenced': '뉴런을 꺼서 잃은 표현', 'facts.kept': '남은 다른 사실', 'facts.rewritten': '다시 쓴 표현', 'facts.heldout': '학습하지 않은 표현', 'facts.unchanged': '그대로인 다른 답', 'facts.note': '뉴런의 순서는 껐을 때 이 사실이 잃는 것과 다른 사실이 잃지 않는 것으로 정합니다. 다시 쓰기는 새 단어가 이기게 하는 하향 투영 열의 가장 작은 변화를 구합니다.',
  'sae.k': '한 번에 쓰는 특징', 'sae.start': '오토인코더 학습', 'sae.begin': '사실을 배운 작은 모델의 두 번째 신경망이 쓰는 값에 대해 희소 오토인코더를 서버에서 학습합니다. 처음에는 그 모델도 30초쯤 학습합니다.', 'sae.says': '신경망이 {dimensions}차원에 쓰는 것을 많은 방향 가운데 몇 개의 합으로 나타냅니다. 특징 {features}개 가운데 {firing}개가 활성화되고, 한 번에 {active}개가 분산의 {explained}를 설명합니다.', 'sae.question': '특징은 무엇을 뜻합니까? (드문 것부터 흔한 것까지)', 'sae.feature': '특징', 'sae.fires': '활성화 비율', 'sae.promotes': '높이는 토큰', 'sae.texts': '글', 'sae.dimensions': '차원', 'sae.firing': '활성화되는 특징', 'sae.active': '한 번에', 'sae.explained': '설명된 분산', 'sae.note': '단어의 색은 특징이 그곳에서 얼마나 강하게 활성화되는지를 나타냅니다. 높이는 토큰은 그 방향이 로짓을 가장 많이 올리는 토큰입니다.',

  'shelf': '개입', 'shelf.remove': '{what} 없애기', 'shelf.clear': '모두 없애기', 'shelf.number': '이 개입의 세기',
  'change.zero': '0으로', 'change.zeropos': '위치 정보 없애기', 'change.cell': '이 연결 끊기', 'change.head': '이 헤드 끄기', 'change.half': '이 헤드 절반으로', 'change.silence': '끄기', 'change.double': '두 배로', 'change.set': '여기서 5로', 'change.steer': '이쪽으로 밀기', 'change.patch': '바꾸어 넣기', 'change.weight': '가중치 ({row}, {col})을 0으로', 'change.weightrow': '{row}행을 0으로',

  'change.own': '직접 바꾸기 …', 'change.kind': '종류', 'change.place': '자리', 'change.expression': '가중치', 'change.from': '가져올 글', 'change.along': '향할 토큰', 'change.by': '배율', 'change.to': '값', 'change.apply': '적용',
  'kind.zero': '0으로', 'kind.scale': '세기 바꾸기', 'kind.set': '값 정하기', 'kind.patch': '다른 글의 값 넣기', 'kind.steer': '토큰 쪽으로 밀기', 'kind.edit': '가중치 고치기',

  'error.gone': '서버가 응답하지 않습니다. “limpid serve”가 아직 실행 중입니까? 다시 시작한 뒤 다시 시도하십시오.', 'error.busy': '서버가 바쁩니다: {message} 잠시 뒤 다시 시도하십시오.', 'error.refused': '서버가 받아들이지 않았습니다: {message}', 'error.broken': '서버가 처리하지 못했습니다: {message} 자세한 것은 서버 기록에 있습니다.', 'error.key': '서버가 키를 요구합니다.', 'error.nomodel': '제공되는 모델이 없습니다. “limpid serve MODEL”로 모델과 함께 시작하십시오.', 'error.model': '이 모델을 보여 줄 수 없습니다: {message}', 'error.long': '글은 토큰 {length}개인데 {most}개까지만 읽습니다. 위의 글을 줄인 뒤 다시 읽히십시오.', 'error.text': '위의 글을 줄이거나 바꾼 뒤 다시 읽히십시오.',
  'key.ask': '이 서버는 API 키를 요구합니다(“limpid serve --api-key”에 준 것):', 'key.wrong': '키가 맞지 않습니다.', 'key.give': '이 키 쓰기',

  'tour': '둘러보기', 'tour.count': '{of}단계 가운데 {step}', 'tour.skip': '건너뛰기', 'tour.back': '뒤로', 'tour.next': '다음', 'tour.end': '시작하기',
  'tour.1.title': '여러분의 문장, 진짜 모델', 'tour.1.text': '여기에 아무 문장이나 입력하십시오. 이 페이지의 모든 것은 이 컴퓨터에서 돌아가는 모델이 그 문장으로 계산합니다. 지어낸 숫자는 없고, 아무것도 밖으로 나가지 않습니다.',
  'tour.2.title': '토큰', 'tour.2.text': '모델은 이 조각들을 읽습니다. 여기서든 다른 데서든 하나를 고르면 모든 곳에서 함께 켜지고 모든 그림이 그 토큰을 따라갑니다.',
  'tour.3.title': '지도', 'tour.3.text': '바로 이 모델의 구조이며 아래에서 위로 읽습니다. 초록색 선이 잔차 흐름이고, 어텐션과 순방향 신경망이 갈라져 나와 거기에 더합니다. 부분을 누르면 그 방으로 들어갑니다.',
  'tour.4.title': '방', 'tour.4.text': '방마다 한 가지 질문에 답합니다. 여기는 어텐션입니다. 작은 그림은 모든 헤드이고, 큰 그림은 고른 헤드가 보는 곳입니다.',
  'tour.5.title': '현미경', 'tour.5.text': '아무 숫자나 가리키면 그것을 만든 쿼리와 키와 그 곱을 여기서 봅니다. 키보드로는 그림 안에서 화살표 키를 쓰십시오.',
  'tour.6.title': '바꾸어 보기', 'tour.6.text': '헤드를 끄고, 뉴런의 세기를 바꾸고, 다른 글의 값을 넣어 보십시오. 전과 후가 나란히 나옵니다. 옆의 명령을 쓰면 터미널에서 같은 숫자를 얻습니다.',
};
