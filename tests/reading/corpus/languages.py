"""Twenty languages with the ways in which their people write names, dates and numbers."""
# ruff: noqa: RUF001

from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    """`fields`: number, name, date, amount and note. `legacy`: the encoding of old programs there. `date`: a format of
    strftime. `mark`: the decimal mark. `delimiter`: what spreadsheets write there.
    """

    code: str
    fields: tuple[str, str, str, str, str]
    people: tuple[str, str, str, str]
    notes: tuple[str, str, str]
    legacy: str
    date: str
    mark: str
    delimiter: str


LANGUAGES = (
    Language(
        "en-us",
        ("Number", "Name", "Date", "Amount", "Note"),
        ("Anna Ames", "Bo O'Hara", "Cy Naïve", "Di Young"),
        ("paid", "open, see letter", '5" pipe'),
        "cp1252",
        "%m/%d/%Y",
        ".",
        ",",
    ),
    Language(
        "en-gb",
        ("Number", "Surname", "Date", "Amount", "Remark"),
        ("Ann Smith", "Zoë Hall", "Ian Pound", "Una Lee"),
        ("paid £5", "open, see letter", "fine"),
        "cp1252",
        "%d/%m/%Y",
        ".",
        ",",
    ),
    Language(
        "de",
        ("Nummer", "Name", "Datum", "Betrag", "Bemerkung"),
        ("Jürgen Groß", "Änne Möller", "Udo Weiß", "Käthe Löw"),
        ("bezahlt", "offen, siehe Brief", "3 % Skonto"),
        "cp1252",
        "%d.%m.%Y",
        ",",
        ";",
    ),
    Language(
        "de-ch",
        ("Nummer", "Name", "Datum", "Betrag", "Bemerkung"),
        ("Urs Bühler", "Reto Zürcher", "Beat Gächter", "Vreni Aebi"),
        ("bezahlt", "offen", "überfällig"),
        "cp1252",
        "%d.%m.%Y",
        ".",
        ";",
    ),
    Language(
        "fr",
        ("Numéro", "Nom", "Date", "Montant", "Remarque"),
        ("François Lefèvre", "Zoé Noël", "Hélène Garçon", "Léa Œuvré"),
        ("payé", "à régler, voir lettre", "l'été"),
        "cp1252",
        "%d/%m/%Y",
        ",",
        ";",
    ),
    Language(
        "es",
        ("Número", "Nombre", "Fecha", "Importe", "Nota"),
        ("José Núñez", "Íñigo Peña", "Ángel Gómez", "Lucía Ibáñez"),
        ("pagado", "pendiente, ver carta", "¿cuándo?"),
        "cp1252",
        "%d/%m/%Y",
        ",",
        ";",
    ),
    Language(
        "pt-br",
        ("Número", "Nome", "Data", "Valor", "Observação"),
        ("João Conceição", "Antônio Araújo", "Inês Simões", "Zé Irmão"),
        ("pago", "em aberto, ver carta", "não"),
        "cp1252",
        "%d/%m/%Y",
        ",",
        ";",
    ),
    Language(
        "it",
        ("Numero", "Nome", "Data", "Importo", "Nota"),
        ("Nicolò Pavò", "Perché Più", "Niccolò Dè", "Gesù Virtù"),
        ("pagato", "aperto, vedi lettera", "c'è"),
        "cp1252",
        "%d/%m/%Y",
        ",",
        ";",
    ),
    Language(
        "nl",
        ("Nummer", "Naam", "Datum", "Bedrag", "Opmerking"),
        ("Loïs Zeeën", "André Vries", "Zoë Ruïne", "Jan 't Hart"),
        ("betaald", "open, zie brief", "coöperatie"),
        "cp1252",
        "%d-%m-%Y",
        ",",
        ";",
    ),
    Language(
        "sv",
        ("Nummer", "Namn", "Datum", "Belopp", "Anmärkning"),
        ("Åsa Öberg", "Göran Ström", "Märta Ård", "Björn Sjö"),
        ("betald", "öppen, se brev", "på väg"),
        "cp1252",
        "%Y-%m-%d",
        ",",
        ";",
    ),
    Language(
        "pl",
        ("Numer", "Nazwisko", "Data", "Kwota", "Uwaga"),
        ("Łukasz Żak", "Zażółć Gęślą", "Święty Mróz", "Józef Ćwik"),
        ("zapłacone", "otwarte, zob. list", "późno"),
        "cp1250",
        "%d.%m.%Y",
        ",",
        ";",
    ),
    Language(
        "cs",
        ("Číslo", "Jméno", "Datum", "Částka", "Poznámka"),
        ("Jiří Dvořák", "Růžena Šťastná", "Božena Němcová", "Ondřej Žižka"),
        ("zaplaceno", "otevřeno, viz dopis", "později"),
        "cp1250",
        "%d.%m.%Y",
        ",",
        ";",
    ),
    Language(
        "hu",
        ("Szám", "Név", "Dátum", "Összeg", "Megjegyzés"),
        ("Szűcs Győző", "Őri Tűnde", "Kőműves Béla", "Nagy Ödön"),
        ("fizetve", "nyitott, lásd levél", "később"),
        "cp1250",
        "%Y.%m.%d",
        ",",
        ";",
    ),
    Language(
        "ru",
        ("Номер", "Имя", "Дата", "Сумма", "Примечание"),
        ("Жанна Щукина", "Юрий Ёлкин", "Эдуард Цой", "Фёдор Чехов"),
        ("оплачено", "открыто, см. письмо", "поздно"),
        "cp1251",
        "%d.%m.%Y",
        ",",
        ";",
    ),
    Language(
        "uk",
        ("Номер", "Ім'я", "Дата", "Сума", "Примітка"),
        ("Їжак Ґалаґан", "Євген Ющук", "Олена Жук", "Ігор Цап"),
        ("сплачено", "відкрито, див. лист", "пізно"),
        "cp1251",
        "%d.%m.%Y",
        ",",
        ";",
    ),
    Language(
        "el",
        ("Αριθμός", "Όνομα", "Ημερομηνία", "Ποσό", "Σημείωση"),
        ("Ελένη Ψαρρά", "Γιώργος Ξένος", "Άννα Ωραία", "Νίκος Θεός"),
        ("πληρώθηκε", "ανοιχτό, δες γράμμα", "αργά"),
        "cp1253",
        "%d/%m/%Y",
        ",",
        ";",
    ),
    Language(
        "tr",
        ("Numara", "İsim", "Tarih", "Tutar", "Açıklama"),
        ("Ayşe Güneş", "İbrahim Çağlar", "Işıl Öğüt", "Şükrü Dağ"),
        ("ödendi", "açık, mektuba bak", "geç"),
        "cp1254",
        "%d.%m.%Y",
        ",",
        ";",
    ),
    Language(
        "ja",
        ("番号", "名前", "日付", "金額", "備考"),
        ("山田太郎", "鈴木花子", "高橋一郎", "田中美咲"),
        ("支払済みです", "未払い、手紙を参照してください", "遅れています"),
        "shift_jis",
        "%Y/%m/%d",
        ".",
        ",",
    ),
    Language(
        "zh",
        ("编号", "姓名", "日期", "金额", "备注"),
        ("王小明", "李美丽", "张伟", "陈静"),
        ("已经付款", "没有付款，请看信件", "晚了一些"),
        "gbk",
        "%Y-%m-%d",
        ".",
        ",",
    ),
    Language(
        "ko",
        ("번호", "이름", "날짜", "금액", "비고"),
        ("김철수", "이영희", "박민수", "최지우"),
        ("지불했습니다", "미지불, 편지를 참조하세요", "늦었습니다"),
        "cp949",
        "%Y-%m-%d",
        ".",
        ",",
    ),
)
BY_CODE = {each.code: each for each in LANGUAGES}
