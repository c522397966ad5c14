# ruff: noqa: RUF001
"""Tests that the right encoding is among the proposals, for short texts in 20 languages."""

import pytest

from importer.engine.source import encodings
from importer.engine.source.decoding import SourceHead
from importer.engine.source.profile.encoding_detection import detect_encoding

# A table's words in each language, and the encodings that its files were written in before UTF-8.
TEXTS = {
    "German": ("Müller;Köln\nSchäfer;Düsseldorf\nGroß;Nürnberg", ["cp1252", "iso8859-1", "cp850"]),
    "French": ("Hélène;Besançon\nFrançois;Orléans\nNoël;Sète", ["cp1252", "iso8859-15"]),
    "Spanish": ("Muñoz;León\nPeña;Cádiz\nNúñez;Málaga", ["cp1252", "iso8859-1"]),
    "Portuguese": ("João;São Paulo\nConceição;Brasília", ["cp1252", "iso8859-1"]),
    "Italian": ("Nicolò;Forlì\nperché;città", ["cp1252"]),
    "Swedish": ("Åsa;Malmö\nBjörn;Västerås", ["cp1252", "iso8859-1"]),
    "Danish": ("Søren;Århus\nKjær;Køge", ["cp1252"]),
    "Finnish": ("Mäkinen;Jyväskylä\nSäily;Hämeenlinna", ["cp1252"]),
    "Polish": ("Łukasz;Łódź\nStanisław;Kraków\nŚwięty;Gdańsk", ["cp1250", "iso8859-2"]),
    "Czech": ("Žižka;Plzeň\nKovářová;České Budějovice\nŠťastný;Brno", ["cp1250", "iso8859-2"]),
    "Hungarian": ("Szőke;Győr\nKovács;Székesfehérvár\nŰr;Pécs", ["cp1250", "iso8859-2"]),
    "Turkish": ("İbrahim;Şanlıurfa\nGüneş;Eskişehir\nÇağrı;Muğla", ["cp1254"]),
    "Greek": ("Γιώργος;Αθήνα\nΜαρία;Θεσσαλονίκη\nΝίκος;Πάτρα", ["cp1253"]),
    "Russian": ("Иванов;Москва\nПетрова;Санкт-Петербург\nСмирнов;Казань", ["cp1251", "koi8-r"]),
    "Ukrainian": ("Шевченко;Київ\nКоваленко;Харків\nБондаренко;Львів", ["cp1251"]),
    "Bulgarian": ("Георги;София\nИванка;Пловдив\nПетър;Варна", ["cp1251"]),
    "Japanese": ("田中;東京\n鈴木;大阪\n佐藤;名古屋", ["shift_jis", "euc_jp"]),
    "Chinese, simplified": ("王伟;北京\n李娜;上海\n张敏;广州", ["gb18030"]),
    "Chinese, traditional": ("王偉;臺北\n李娜;高雄\n張敏;臺中", ["big5"]),
    "Korean": ("김철수;서울\n이영희;부산\n박민수;대구", ["euc_kr"]),
}
CASES = [(name, encoding) for name, (_, names) in TEXTS.items() for encoding in names]
# Encodings that read the same bytes as the same characters, as far as a text has them.
LEAST_SHARE = 0.95


def proposed(text: str, encoding: str) -> bool:
    """Whether an answer to the question reads the bytes as the text they were written from."""
    data = f"id;name;city\n1;{text.splitlines()[0]}\n{text}\n".encode(encoding)
    decision = detect_encoding(SourceHead("", data, len(data), len(data), len(data) + 1)).decision
    answers = [dict(each.states)["encoding"] for each in decision.answers]
    return any(encodings.readable_text(data, each) == data.decode(encoding) for each in answers)


def test_the_right_encoding_is_among_the_answers():
    missing = [case for case in CASES if not proposed(TEXTS[case[0]][0], case[1])]
    assert len(missing) <= (1 - LEAST_SHARE) * len(CASES), missing


@pytest.mark.parametrize("name", ["German", "French", "Spanish", "Swedish", "Danish", "Italian", "Portuguese"])
def test_western_windows_is_proposed_first_for_western_words(name: str):
    data = f"id;name;city\n{TEXTS[name][0]}\n".encode("cp1252")
    assert detect_encoding(SourceHead("", data, len(data), len(data), len(data) + 1)).encoding == "cp1252"


@pytest.mark.parametrize(
    ("name", "encoding"), [("Russian", "cp1251"), ("Russian", "koi8-r"), ("Greek", "cp1253"), ("Japanese", "shift_jis")]
)
def test_other_scripts_are_proposed_first(name: str, encoding: str):
    data = f"id;name;city\n{TEXTS[name][0]}\n".encode(encoding)
    found = detect_encoding(SourceHead("", data, len(data), len(data), len(data) + 1)).encoding
    assert data.decode(found) == data.decode(encoding)
